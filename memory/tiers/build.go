package tiers

import (
	"errors"
	"fmt"

	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/remote"
)

// New makes a Manager: it reserves the address space of all tiers, and commits no memory yet. Unless Config.GC.Keep is
// set, New raises GOGC for the whole process, as [gcpace.New] does. With the zero Config the metadata takes about 120
// KiB of the Go heap. If the configuration is invalid, the error wraps memory.ErrConfig and names the field. If the
// system refuses even the smallest tiers, the error wraps memory.ErrOutOfMemory. Any other error of Config.Source is
// wrapped, too. After an error nothing stays reserved, unless Config.Source fails to release it.
func New(cfg Config) (_ *Manager, err error) {
	cfg, err = cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	m := &Manager{cfg: cfg}
	m.src = &backing{Source: cfg.Source}
	m.unreturnable = !page.ReturnsMemory(cfg.Source)
	if err := m.reserve(&m.cfg); err != nil {
		return nil, fmt.Errorf("tiers: reserve: %w", err)
	}
	built := false
	defer func() {
		if !built { // also if the source panics
			err = errors.Join(err, m.release())
		}
	}()
	if err := m.build(); err != nil {
		return nil, err
	}
	if m.pacer, err = gcpace.New(cfg.GC); err != nil {
		return nil, err // withDefaults has checked it
	}
	built = true
	m.rss.open()
	m.watchDrop()
	m.watchSource()
	return m, nil
}

// build makes the tiers, the last one first: slab passes large requests to the heap of large.
func (m *Manager) build() error {
	m.recorder = newRecorder(m.cfg.Trace, m.base)
	m.sampler = newSampler(m.cfg.SampleBytes, m.base, 0)
	if err := m.divide(); err != nil {
		return fmt.Errorf("tiers: %w", err)
	}
	for t := range m.states {
		m.states[t] = table[t].state(m)
	}
	for t := range backwards {
		if err := m.states[t].build(m); err != nil {
			return fmt.Errorf("tiers: %s: %w", t, err)
		}
		m.built[t] = m.states[t].stats(m).Reserved
	}
	own := target{m, page.Memory{Base: m.base, Size: m.size}}
	inbox, err := remote.New(gameTarget{own, m, m.slab.heap}, remote.Config{Batch: m.cfg.FreeItems, Bytes: m.cfg.FreeBytes})
	if err != nil {
		return fmt.Errorf("tiers: inbox: %w", err)
	}
	m.returned = inbox
	return nil
}

// drainSome bounds the blocks that are freed before a class takes new ones: as many as it would take.
const drainSome = 32

// drain frees what other goroutines have freed: all of it, or some.
func (m *Manager) drain(all bool) {
	switch {
	case m.phase >= closing:
	case all:
		m.returned.Drain()
	default:
		m.returned.DrainSome(drainSome)
	}
}
