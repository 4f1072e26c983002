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
	m.returned.Drain()
	m.inbox.tellSoft(m)
	at := m.allStats()
	if m.phase < closing { // else a callback has ended its source, or a pool's books have
		m.frame.ring.Advance()
	}
	if m.phase >= closing {
		return m.order("BeginFrame", "", "") // or a hook
	}
	m.atFrame = at
	m.pools.ending++ // the resets of an EndLevel that panicked are no longer current
	m.frame.begin()
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
	tight := m.frame.tellSoft(m)
	if m.phase >= closing {
		return m.order("EndFrame", "", "") // a callback has ended its source
	}
	failed := m.inbox.flush()
	m.sample(&used)
	m.frame.tight = tight
	m.frame.cur = m.frame.shut
	m.phase &^= inFrame
	return failed
}

// NextFrame ends the frame that is open, if there is one, and begins the next. It is the one call that a
// tick needs: see the package documentation. A level that ends or begins between two ticks needs EndFrame
// first. The error is that of EndFrame and BeginFrame. If EndFrame could not send all frees to workers, the
// next frame has begun nevertheless. If EndFrame fails otherwise, the frame stays open.
func (m *Manager) NextFrame() error {
	var failed error
	if m.phase&inFrame != 0 {
		if failed = m.EndFrame(); m.phase&inFrame != 0 {
			return failed
		}
	}
	return errors.Join(failed, m.BeginFrame())
}

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
	m.pools.noteLevel()
	if m.phase >= closing {
		return m.order("BeginLevel", "", "") // a pool's books have ended its source
	}
	m.beginEpochs()
	m.pacer.beginLevel()
	m.atLevel = at
	m.level.cur = m.level.arena
	m.level.begun++
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
	case m.level.arena.Busy():
		return Leaks{}, m.order("EndLevel", "from a hook of the level's arena", "return from it first")
	}
	if err := m.enter("EndLevel"); err != nil {
		return Leaks{}, err
	}
	defer m.leave()
	m.owner.Touch()
	m.returned.Drain() // what was freed in the level's time was live
	for t := range backwards {
		if table[t].Hooks == LevelEnd {
			m.runHooks(t)
		}
	}
	grown, err := m.endTiers()
	if m.phase >= closing {
		return Leaks{}, m.order("EndLevel", "", "") // a callback has ended the source
	}
	if err != nil {
		return Leaks{}, err
	}
	leaks := m.leaks(grown)
	m.slab.heap.EndEpoch()
	m.pools.ending++
	m.level.cur = m.level.shut
	m.phase &^= inLevel
	m.pacer.endLevel()
	m.left = leaks
	return leaks, nil
}

// endTiers ends and resets all tiers, the last one first, and returns what the pools have beyond their
// resets. What callbacks allocate is freed or counted: the pools' statistics are the last callbacks that
// run, and blocks are freed after them.
func (m *Manager) endTiers() (grown []PoolLeak, err error) {
	for t := range backwards {
		if m.phase >= closing {
			return nil, nil
		}
		if err := m.states[t].end(m); err != nil {
			return nil, err
		}
	}
	if m.phase < closing {
		grown = m.pools.grown()
	}
	for t := range backwards {
		if m.phase < closing {
			m.states[t].reset()
		}
	}
	if m.phase < closing {
		m.forgetTaken()
		m.returned.Drain() // what resets and hooks have freed is no leak
	}
	return grown, nil
}
