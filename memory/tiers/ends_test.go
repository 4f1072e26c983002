package tiers

import (
	"errors"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/pool"
)

// enders are calls that run the code of others, which ends the source of the manager in the midst of
// them: arm has it do so, call makes the call.
var enders = map[string]struct {
	arm  func(t *testing.T, m *Manager, end func())
	call func(m *Manager) error
}{
	"Close, a hook of the pools": {func(_ *testing.T, m *Manager, end func()) { m.OnReset(Pools, end) }, (*Manager).Close},
	"Close, a reset":             {func(_ *testing.T, m *Manager, end func()) { m.AddPool("ends", &Funcs{ResetFunc: end}) }, (*Manager).Close},
	"Close, a close": {func(_ *testing.T, m *Manager, end func()) {
		m.AddPool("ends", &Funcs{CloseFunc: func() error { end(); return nil }})
	}, (*Manager).Close},
	"EndLevel, a reset":        {func(_ *testing.T, m *Manager, end func()) { m.AddPool("ends", &Funcs{ResetFunc: end}) }, endLevel},
	"EndLevel, a pool's books": {endsWhenCounted, endLevel},
	"BeginLevel, a pool's books": {func(t *testing.T, m *Manager, end func()) {
		_, err := m.EndLevel()
		must(t, err)
		endsWhenCounted(t, m, end)
	}, (*Manager).BeginLevel},
	"BeginFrame, a pool's books": {endsWhenCounted, (*Manager).BeginFrame},
	"BeginFrame, a worker's mark": {func(t *testing.T, m *Manager, end func()) {
		m.cfg.OnSoft = func(Tier, uintptr, uintptr) { end() }
		for _, w := range m.inbox.workers {
			w.soft.Add(1)
		}
	}, (*Manager).BeginFrame},
	"Declare, a mark": {func(t *testing.T, m *Manager, end func()) {
		m.limits[Static].OnSoft(0, func(uintptr, uintptr) { end() })
	}, func(m *Manager) error {
		p, err := plan.Fast([]plan.Buffer{{Size: 5000, Death: 1}})
		if err == nil {
			_, err = m.Declare(p)
		}
		return err
	}},
}

func endLevel(m *Manager) error { _, err := m.EndLevel(); return err }

// endsWhenCounted registers what ends the source when it is asked for its books next.
func endsWhenCounted(_ *testing.T, m *Manager, end func()) {
	armed := false
	m.AddPool("ends", &Funcs{StatsFunc: func() (s memory.Stats) {
		if armed {
			end()
		}
		return s
	}})
	armed = true
}

func TestManager_WhoeverIsCalledMayEndTheSource(t *testing.T) {
	for name, c := range enders {
		t.Run(name, func(t *testing.T) {
			src := memtest.NewMortal(t, nil, 96<<20)
			cfg := tagged()
			cfg.Source = src.Carve
			m, err := New(cfg)
			must(t, err)
			must(t, m.BeginLevel())
			ended, later := false, 0
			late := func() {
				if ended {
					later++
				}
			}
			m.AddPool("older", &Funcs{ResetFunc: late, CloseFunc: func() error { late(); return nil }})
			for range 2 {
				p, err := pool.New[[3]int64](m.PoolSource(), pool.Config{Capacity: 10})
				must(t, err)
				_, _, err = p.New()
				must(t, err)
				m.AddPool("objects", p)
			}
			base := m.Base()
			c.arm(t, m, func() {
				if !ended {
					ended = true
					src.End(t)
				}
			})
			err = c.call(m)
			if border, _, _ := strings.Cut(name, ","); border == "Close" {
				must(t, err)
			} else if !errors.Is(err, ErrOrder) && !errors.Is(err, memory.ErrClosed) {
				t.Errorf("%v; want ErrOrder, or ErrClosed", err)
			}
			if !ended || later > 0 || m.Owns(base) {
				t.Errorf("ended %t, and %d callbacks later; owns %t", ended, later, m.Owns(base))
			}
			must(t, m.Check())
			must(t, m.Close())
			if err := m.BeginFrame(); !errors.Is(err, ErrOrder) {
				t.Error(err)
			}
		})
	}
}

func TestManager_ItsSourceEndsAndAWatcherPanics(t *testing.T) {
	src := memtest.NewMortal(t, nil, 96<<20)
	cfg := tagged()
	cfg.Source = src.Carve
	m, err := New(cfg)
	must(t, err)
	must(t, m.BeginLevel())
	m.PoolSource().(page.Watched).Watch(func() { panic(memtest.ErrInjected) })
	func() {
		defer func() {
			if r := recover(); r != memtest.ErrInjected {
				t.Error(r)
			}
		}()
		src.Close()
	}()
	src.End(t)
	if _, err := m.Alloc(64, 16); !errors.Is(err, memory.ErrClosed) {
		t.Error(err)
	}
	for k := range m.Workers() {
		if _, err := m.Worker(k).Alloc(64, 16); !errors.Is(err, memory.ErrClosed) {
			t.Errorf("worker %d: %v", k, err)
		}
	}
	if err := m.BeginFrame(); m.Base() != nil || !errors.Is(err, ErrOrder) {
		t.Error(err)
	}
	must(t, m.Check())
	must(t, m.Close())
}

func TestStatic_ReturnsNilAfterItsSourceEnds(t *testing.T) {
	src := memtest.NewMortal(t, nil, 96<<20)
	cfg := tagged()
	cfg.Source = src.Carve
	m, err := New(cfg)
	must(t, err)
	must(t, m.BeginLevel())
	p, err := plan.Fast([]plan.Buffer{{Size: 5000, Death: 1}})
	must(t, err)
	_, err = m.Declare(p)
	must(t, err)
	was := m.Stats(Static)
	src.End(t)
	if now := m.Stats(Static); m.Static() != nil || now.Allocs != was.Allocs || now.Frees != was.Allocs || now.Peak != was.Peak || now.InUse != 0 {
		t.Errorf("%v, %+v", m.Static(), now)
	}
	must(t, m.Check())
	must(t, m.Close())
}
