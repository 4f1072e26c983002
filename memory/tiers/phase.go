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
	closing // a Close has begun: only Close may follow
	closed
)

func (m *Manager) order(op, state, remedy string) error {
	if m.phase >= closing {
		state, remedy = "after Close", "make a new Manager"
	}
	return fmt.Errorf("%w: %s %s; %s", ErrOrder, op, state, remedy)
}

// BeginFrame opens a frame: blocks that came home are freed, the oldest frame arena is reset
// and becomes this frame's, and workers that rose past their soft mark are reported. Cost:
// constant, plus the frees that came home and the hooks of the frame that dies.
func (m *Manager) BeginFrame() error {
	switch {
	case m.phase >= closing:
		return m.order("BeginFrame", "", "")
	case m.phase&inFrame != 0:
		return m.order("BeginFrame", "inside a frame", "EndFrame first")
	}
	if err := m.enter("BeginFrame"); err != nil {
		return err
	}
	defer m.leave()
	m.owner.Touch()
	m.home.Drain()
	m.tellSoftWorkers()
	at := m.allStats()
	if m.phase < closing { // else a callback has ended its source, or a pool's books have
		m.frames.Advance()
	}
	if m.phase >= closing {
		return m.order("BeginFrame", "", "") // or a hook
	}
	m.atFrame = at
	m.cur = m.frames.Current()
	m.ending++ // what an EndLevel that panicked has begun is no longer so
	m.frame++
	m.phase |= inFrame
	return nil
}

// EndFrame closes the frame: frees for the workers are sent, and the books are sampled. What
// the frame allocated stays readable for N-1 more frames. An error says that blocks could not
// be sent; the frame has ended all the same.
func (m *Manager) EndFrame() error {
	if m.phase&inFrame == 0 {
		return m.order("EndFrame", "outside a frame", "BeginFrame first")
	}
	if err := m.enter("EndFrame"); err != nil {
		return err
	}
	defer m.leave()
	m.owner.Touch()
	used := m.inUse() // the pools' books may panic: before anybody is told
	tight := m.tellSoftFrame()
	if m.phase >= closing {
		return m.order("EndFrame", "", "") // a callback has ended its source
	}
	var failed error
	for k := range m.outbox {
		if err := m.outbox[k].flush(); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	m.sample(&used)
	m.tight = tight
	m.cur = m.shut.frame
	m.phase &^= inFrame
	return failed
}

// tellSoftWorkers calls Config.OnSoft for the workers that rose past their soft marks.
func (m *Manager) tellSoftWorkers() {
	for _, w := range m.workers {
		if n := w.soft.Load(); n != w.told && m.phase < closing {
			m.onSoft(Inbox, uintptr(w.Stats().Committed), w.limit.Budget())
			w.told = n
		}
	}
}

// tellSoftFrame calls Config.OnSoft where this frame used more of its buffer than the soft
// mark and the one before did not. It reports whether this one did.
func (m *Manager) tellSoftFrame() bool {
	used := m.cur.Used()
	room := used + m.cur.Available()
	tight := used > m.cfg.softMark(room)
	if tight && !m.tight && m.cfg.OnSoft != nil {
		m.onSoft(Frame, used, room)
	}
	return tight
}

// InLevel reports whether a level has begun and not ended.
func (m *Manager) InLevel() bool { return m.phase&inLevel != 0 }

// BeginLevel opens a level. What slab, large and the workers hold already is not part of it:
// it will not be reported as leaked. A collection of the Go heap that is under way is waited
// for. Cost: 16 bytes read and written for each KiB of slab in use.
func (m *Manager) BeginLevel() error {
	switch {
	case m.phase >= closing:
		return m.order("BeginLevel", "", "")
	case m.phase&inLevel != 0:
		return m.order("BeginLevel", "inside a level", "EndLevel first")
	case m.phase&inFrame != 0:
		return m.order("BeginLevel", "inside a frame", "EndFrame first")
	}
	if err := m.enter("BeginLevel"); err != nil {
		return err
	}
	defer m.leave()
	m.owner.Touch()
	at := m.allStats()
	m.notePools()
	if m.phase >= closing {
		return m.order("BeginLevel", "", "") // a pool's books have ended its source
	}
	m.beginEpochs()
	m.pacer.beginLevel()
	m.atLevel = at
	m.lev = m.level
	m.levels++
	m.phase |= inLevel
	return nil
}

// EndLevel closes the level. All hooks of all tiers run first, see [Manager.OnReset]; then the pools
// are reset, newest first, the static buffers given back and the level arena reset. Every handle and
// pointer into them is dead. It reports what the level left behind, what hooks and resets took
// included. Without KeepGC it runs the collection that play was spared: one of the whole Go heap, as
// [Manager.Collect] does, if the program's own GOGC would have asked for one by now, and so never
// with GOGC=off. Other goroutines that work for the level must have stopped: a worker's block that
// is not back counts as left behind. Cost: the hooks and the pools' resets, the blocks of large and
// of the workers, BeginLevel's cost for slab, and that collection.
//
// If the static memory cannot be given back the error says so and the level has not ended. Then, and
// after a panic of a hook or a reset, EndLevel may be called again. A hook that has run is not run
// again. A pool that has been reset is reset again if it has handed out objects since, or if a frame
// has begun in between.
func (m *Manager) EndLevel() (Leaks, error) {
	switch {
	case m.phase&inLevel == 0:
		return Leaks{}, m.order("EndLevel", "outside a level", "BeginLevel first")
	case m.phase&inFrame != 0:
		return Leaks{}, m.order("EndLevel", "inside a frame", "EndFrame first")
	case m.level.Busy():
		return Leaks{}, m.order("EndLevel", "from a hook of the level's arena", "return from it first")
	}
	if err := m.enter("EndLevel"); err != nil {
		return Leaks{}, err
	}
	defer m.leave()
	m.owner.Touch()
	m.home.Drain() // what was freed in the level's time was live
	for _, t := range [...]Tier{Pools, Level, Static} {
		m.runHooks(t)
	}
	m.resetPools()
	grown, err := m.resetTiers()
	if m.phase >= closing {
		return Leaks{}, m.order("EndLevel", "", "") // a callback has ended the source
	}
	if err != nil {
		return Leaks{}, err
	}
	leaks := m.leaks(grown)
	m.slab.EndEpoch()
	m.ending++
	m.lev = m.shut.level
	m.phase &^= inLevel
	m.pacer.endLevel()
	m.left = leaks
	return leaks, nil
}

// resetTiers resets static and level, and returns what the pools have beyond their resets. The order
// has what callbacks take freed or counted: the pools' statistics are the last callbacks that run,
// and the level arena is reset after them.
func (m *Manager) resetTiers() ([]PoolLeak, error) {
	if m.phase >= closing {
		return nil, nil
	}
	m.level.RunHooks() // registered on the arena by hooks of Static and by resets
	if m.phase >= closing {
		return nil, nil
	}
	if err := m.static.end(); err != nil || m.phase >= closing {
		return nil, err
	}
	grown := m.poolLeaks()
	if m.phase < closing {
		m.level.Reset()
	}
	if m.phase < closing {
		m.tags.endLevel()
		m.home.Drain() // what resets and hooks have freed is not left behind
	}
	return grown, nil
}
