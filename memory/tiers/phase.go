package tiers

import (
	"errors"
	"fmt"
)

// ErrOrder is what every error about Begin and End out of order is.
var ErrOrder = errors.New("tiers: call out of order")

// phase says where the game is in its life. A frame may run inside a level or, as while the
// next one loads, outside.
type phase uint8

const (
	inLevel phase = 1 << iota
	inFrame
	closed
)

func (m *Manager) order(op, state, remedy string) error {
	return fmt.Errorf("%w: %s %s; %s", ErrOrder, op, state, remedy)
}

// BeginFrame opens a frame: blocks that came home are freed, and the oldest frame arena is
// reset and becomes this frame's. Cost: constant, plus the frees that came home and the hooks
// of the frame that dies.
func (m *Manager) BeginFrame() error {
	switch {
	case m.phase&closed != 0:
		return m.order("BeginFrame", "after Close", "make a new Manager")
	case m.phase&inFrame != 0:
		return m.order("BeginFrame", "inside a frame", "EndFrame first")
	}
	m.phase |= inFrame
	m.frame++
	m.home.Drain()
	for t := range Tier(Count) {
		m.atFrame[t] = m.Stats(t)
	}
	m.frames.Advance()
	return nil
}

// EndFrame closes the frame: frees for the workers are sent, and the books are sampled. What
// the frame allocated stays readable for N-1 more frames.
func (m *Manager) EndFrame() error {
	if m.phase&inFrame == 0 {
		return m.order("EndFrame", "outside a frame", "BeginFrame first")
	}
	m.phase &^= inFrame
	var errs []error
	for _, f := range m.freers {
		if f.Pending() > 0 {
			errs = append(errs, f.Flush())
		}
	}
	m.sample()
	return errors.Join(errs...)
}

// InLevel reports whether a level has begun and not ended.
func (m *Manager) InLevel() bool { return m.phase&inLevel != 0 }

// BeginLevel opens a level. What slab and large hold already is not part of it: it will not be
// reported as leaked. A collection of the Go heap that is under way is waited for.
func (m *Manager) BeginLevel() error {
	switch {
	case m.phase&closed != 0:
		return m.order("BeginLevel", "after Close", "make a new Manager")
	case m.phase&inLevel != 0:
		return m.order("BeginLevel", "inside a level", "EndLevel first")
	case m.phase&inFrame != 0:
		return m.order("BeginLevel", "inside a frame", "EndFrame first")
	}
	m.phase |= inLevel
	m.levels++
	for t := range Tier(Count) {
		m.atLevel[t] = m.Stats(t)
	}
	m.pacer.beginLevel()
	return nil
}

// EndLevel closes the level: pools are reset, newest first, then the level arena with its
// hooks, then the static buffers. Every handle and pointer into them is dead. It reports what
// the level left behind in slab and large, and without KeepGC runs the collection that play was
// spared: one of the whole Go heap, as [Manager.Collect] does, if the program's own GOGC would
// have asked for one by now, and so never with GOGC=off.
// Whoever works for the level on other goroutines must have stopped.
func (m *Manager) EndLevel() (Leaks, error) {
	switch {
	case m.phase&inLevel == 0:
		return Leaks{}, m.order("EndLevel", "outside a level", "BeginLevel first")
	case m.phase&inFrame != 0:
		return Leaks{}, m.order("EndLevel", "inside a frame", "EndFrame first")
	}
	m.phase &^= inLevel
	m.resetPools()
	m.level.Reset()
	m.home.Drain()
	static := m.static.end()
	leaks := Leaks{Level: m.levels}
	leaks.Slab.since(m.atLevel[Slab], m.Stats(Slab))
	leaks.Large.since(m.atLevel[Large], m.Stats(Large))
	m.pacer.endLevel()
	return leaks, static
}

// Leaks is what a level allocated block by block and did not free.
type Leaks struct {
	Level       uint64 // the level's number, from 1
	Slab, Large Leak
}

// A Leak is blocks and bytes that outlived their level.
type Leak struct{ Blocks, Bytes uint64 }

func (l *Leak) since(before, now stats) {
	if now.Live > before.Live {
		l.Blocks = now.Live - before.Live
	}
	if now.InUse > before.InUse {
		l.Bytes = now.InUse - before.InUse
	}
}

// Any reports whether something leaked.
func (l Leaks) Any() bool { return l.Slab.Blocks > 0 || l.Large.Blocks > 0 }

// String says what leaked, for a log line.
func (l Leaks) String() string {
	if !l.Any() {
		return fmt.Sprintf("level %d left nothing behind", l.Level)
	}
	return fmt.Sprintf("level %d left behind %d blocks of %d bytes in slab, %d blocks of %d bytes in large",
		l.Level, l.Slab.Blocks, l.Slab.Bytes, l.Large.Blocks, l.Large.Bytes)
}
