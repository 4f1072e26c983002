package tiers

import (
	"errors"
	"fmt"
)

// ErrOrder is wrapped by the errors of calls in the wrong order. These are calls that begin or end a frame, a level or
// a task, and calls of Declare and Close.
var ErrOrder = errors.New("tiers: call out of order")

// phase is the state of frames and levels. A frame may run inside a level or, for example while the next one
// loads, outside.
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

// BeginFrame opens a frame. It first frees the blocks that other goroutines have sent to the game goroutine, and calls
// Config.OnSoft for workers that rose past their soft mark. Then it runs the hooks of the oldest frame, and frees the
// blocks of that frame. If a sent block was misused, BeginFrame panics: see [Manager.NewFreer].
//
// If the new frame's buffer cannot be committed, BeginFrame succeeds, but the frame's arena has no capacity: its Alloc
// returns the error of the commit. Inside a frame, from a callback, and after Close the error of BeginFrame wraps
// [ErrOrder]. If a callback closes the page source, the error also wraps ErrOrder. If the program has closed the arena
// of a frame, the error wraps memory.ErrClosed and names the tier. After an error no new frame has begun. Cost:
// proportional to tiers, pools and workers, plus the freed blocks and the hooks.
func (m *Manager) BeginFrame() error {
	m.made("BeginFrame")
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
	if m.phase < closing { // else a callback or a pool's Stats has closed the source
		if err := m.open(Frame); err != nil {
			return err
		}
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

// EndFrame closes the frame. The frame's blocks stay readable for Config.Frames-1 more frames. EndFrame calls
// Config.OnSoft for the frame tier if necessary. It sends workers the blocks that Manager.Free has collected for them,
// and adds a value to [Inspector.History]. If a heap has far more memory than it uses, EndFrame returns a part of this
// memory to the page source, see [Config.ReturnAfter]. If the source refuses the memory, EndFrame tries again later:
// see [Inspector.ReturnErr].
//
// Outside a frame, from a callback, and after Close the error wraps [ErrOrder], and no frame has ended. If a callback
// closes the page source, the manager is closed, and the error also wraps ErrOrder. After any other error the frame has
// ended, but blocks could not be sent to their workers.
func (m *Manager) EndFrame() error {
	if m.phase&inFrame == 0 {
		return m.order("EndFrame", "outside a frame", "NextFrame or BeginFrame first")
	}
	if err := m.enter("EndFrame"); err != nil {
		return err
	}
	defer m.leave()
	m.owner.Touch()
	used := m.inUse() // before OnSoft: the pools' Stats may panic
	m.frame.tellSoft(m)
	if m.phase >= closing {
		return m.order("EndFrame", "", "") // a callback has ended its source
	}
	failed := m.inbox.flush()
	m.returnIdle()
	if m.phase >= closing {
		return m.order("EndFrame", "", "") // the source has ended in a step
	}
	m.recorder.endFrame(m)
	m.sample(&used)
	m.frame.cur = m.frame.shut
	m.phase &^= inFrame
	return failed
}

// NextFrame ends the open frame, if there is one, and begins the next. If a level ends or begins between two ticks,
// call EndFrame first. NextFrame returns the errors of EndFrame and BeginFrame. If the error wraps ErrOrder, no new
// frame has begun. After any other error, [Inspector.InFrame] reports whether the new frame has begun.
func (m *Manager) NextFrame() error {
	m.made("NextFrame")
	var failed error
	if m.phase&inFrame != 0 {
		if failed = m.EndFrame(); m.phase&inFrame != 0 {
			return failed
		}
	}
	return errors.Join(failed, m.BeginFrame())
}

// BeginLevel opens a level. Blocks of slab, large and the workers that are already live do not belong to the level, so
// EndLevel will not report them as leaks. BeginLevel may wait until a running collection of the Go heap ends, see
// [gcpace.Pacer.BeginLevel]. Inside a level or a frame, from a callback, and after Close the error wraps [ErrOrder]. If
// a callback closes the page source, the error also wraps ErrOrder. If the program has closed the allocator of a tier,
// the error wraps memory.ErrClosed and names the tier. Cost: proportional to tiers, pools and workers, and 16 bytes
// read and written for each KiB of slab in use.
func (m *Manager) BeginLevel() error {
	m.made("BeginLevel")
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
		return m.order("BeginLevel", "", "") // a pool's Stats has closed the source
	}
	if err := m.allOpen(); err != nil {
		return err
	}
	m.recorder.beginLevel()
	m.beginEpochs()
	m.large.idle.doubles, m.slab.idle.doubles = 0, 0
	for _, w := range m.inbox.workers {
		w.idle.doubles = 0
	}
	m.pacer.BeginLevel()
	m.atLevel = at
	m.level.cur = m.level.arena
	m.level.begun++
	m.phase |= inLevel
	return nil
}

// EndLevel closes the level and returns its leaks, see [Leaks]. EndLevel does this, in order:
//
//  1. It frees the blocks that other goroutines have sent to the game goroutine.
//  2. It runs the hooks of Pools, Level and Static, see [Manager.OnReset].
//  3. It resets the pools that have a reset, newest first, releases the static buffers, and resets the level arena. All
//     handles and pointers into them are dangling afterwards.
//  4. It counts the leaks, with live blocks that hooks and resets have allocated.
//  5. It runs a collection of the Go heap if one is due, see [gcpace.Pacer.EndLevel].
//
// Goroutines that work for the level must have stopped and flushed their Freers, because a block that is still in a
// Freer counts as a leak. Cost: the hooks, the pools' resets and the collection. The cost is also proportional to the
// live blocks of large and of the workers. For slab, EndLevel costs as much as BeginLevel.
//
// Outside a level, inside a frame, from a callback and after Close the error wraps [ErrOrder]. If a callback closes the
// page source, the manager is closed, and the error also wraps ErrOrder. If the program has closed a registered pool or
// the allocator of a tier, the error wraps memory.ErrClosed and names it. Any other error means that the static memory
// could not be released. Unless the manager is closed, the level has not ended after an error or a panic, and EndLevel
// may be called again. The second EndLevel runs only the remaining hooks. It resets a pool again if the pool has more
// live objects than after its reset, or if a frame has begun in between.
func (m *Manager) EndLevel() (Leaks, error) {
	switch {
	case m.phase&inLevel == 0:
		return Leaks{}, m.order("EndLevel", "outside a level", "BeginLevel first")
	case m.phase&inFrame != 0:
		return Leaks{}, m.order("EndLevel", "inside a frame", "EndFrame first")
	}
	if err := m.enter("EndLevel"); err != nil {
		return Leaks{}, err
	}
	if err := m.allOpen(); err != nil {
		m.leave()
		return Leaks{}, err
	}
	defer m.leave()
	m.owner.Touch()
	m.returned.Drain() // blocks that were freed during the level
	for t := range backwards {
		if table[t].Hooks == LevelEnd {
			m.runHooks(t)
		}
	}
	used := m.level.arena.Used()
	grown, err := m.endTiers()
	if m.phase >= closing {
		return Leaks{}, m.order("EndLevel", "", "") // a callback has ended the source
	}
	if err != nil {
		return Leaks{}, err
	}
	leaks := m.leaks(grown)
	m.recorder.endLevel(m, used) // before the level has ended: the io.Writer of the trace may panic
	m.slab.heap.EndEpoch()
	m.pools.ending++
	m.level.cur = m.level.shut
	m.phase &^= inLevel
	m.pacer.EndLevel()
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
	if m.phase < closing {
		if err := m.allOpen(); err != nil { // a hook or a pool has closed one
			return nil, err
		}
	}
	for t := range backwards {
		if m.phase < closing {
			m.states[t].reset()
		}
	}
	if m.phase < closing {
		m.forgetTaken()
		m.returned.Drain() // blocks that resets and hooks have freed are no leaks
	}
	return grown, nil
}
