package tiers

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// scratch is a worker's bump arena. During a task only the worker uses it. When a task begins or ends, its
// statistics are copied with the worker's lock held.
type scratch struct {
	frames *arena.Frames // one buffer, and those that rest in debug builds
	shut   *arena.Linear // closed: what Scratch returns outside of a task
	cur    *arena.Linear // the task's, or shut
	busy   bool          // a task is open; written with the lock held
	ended  bool          // Close has begun to close the arena; written with the lock held
	stats  memory.Stats  // when the last task began or ended
}

// scratchBytes returns the size of a worker's scratch arena, and the addresses that it takes from the worker's heap.
// They include a gap before it, and one after it, in which a block of no bytes may start. Builds whose expired frames
// rest, see arena.RestingFrames, have addresses for those after the second gap.
func (c *Config) scratchBytes() (size, addresses uintptr) {
	size = min(align.Up(c.Scratch, page.BaseAlign), align.Down(c.Reserve[Inbox]/2, page.BaseAlign))
	return size, size + 2*page.BaseAlign
}

var errScratch = fmt.Errorf("tiers: Scratch outside a task or after Close; BeginTask first: %w", memory.ErrClosed)

func (s *scratch) init(src page.Source, size uintptr) (err error) {
	full := fmt.Errorf("tiers: no space in the task's scratch of %d bytes; raise Config.Scratch: %w", size, memory.ErrOutOfMemory)
	if s.frames, err = arena.NewFrames(src, arena.FramesConfig{Buffers: 1, Bytes: size, Idle: true, Full: full}); err != nil {
		return err
	}
	if s.shut, err = arena.NewLinear(page.Heap(), arena.LinearConfig{Bytes: page.Granule, Closed: errScratch}); err != nil {
		return err
	}
	s.cur, s.stats = s.shut, s.frames.Stats()
	return s.shut.Close()
}

// BeginTask opens a task and returns the worker's empty scratch arena. Call it on the worker's goroutine. The arena's
// blocks are not zeroed and are valid until EndTask, or until Rewind to an [arena.Mark] that is older than the block.
// The arena takes no lock, and the game's frames may begin and end during the task.
//
// The arena has Config.Scratch bytes and does not grow: the error of an Alloc that does not fit wraps
// memory.ErrOutOfMemory. The first task commits the arena, within the worker's share of the Inbox budget. With -tags
// memdebug each task commits it. Worker.Stats includes the committed bytes. After the task, Worker.Stats also includes
// the Peak, Allocs and Frees of the task.
//
// If BeginTask returns an error, it opens no task. After Close the error is memory.ErrClosed. Inside a task the error
// wraps ErrOrder. If the arena cannot be committed, the error is a *memory.Exhausted, whose Cause is the error of the
// commit; the call counts in Stats.Failures. If the program has closed the arena, the error wraps memory.ErrClosed and
// names it.
func (w *Worker) BeginTask() (*arena.Linear, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &w.scratch
	switch {
	case w.over || s.ended:
		return nil, memory.ErrClosed
	case s.busy:
		return nil, fmt.Errorf("%w: BeginTask inside a task; EndTask first", ErrOrder)
	case s.lost():
		return nil, w.closedScratch()
	}
	refused := s.advance()
	if w.over {
		return nil, memory.ErrClosed // the source was closed during advance
	}
	if refused != nil {
		size, _ := w.m.cfg.scratchBytes()
		return nil, &memory.Exhausted{Op: "tiers: scratch of worker " + strconv.Itoa(int(w.thread-1)), Need: size, Have: w.limit.Budget() - w.limit.Committed(), Limit: w.limit.Budget(), Cause: refused}
	}
	s.busy, s.cur = true, s.frames.Current()
	return s.cur, nil
}

// advance begins the arena's next frame, and returns the error of its commit. It copies the statistics, also if the page
// source panics. In debug builds the memory of the last frame has been decommitted then.
func (s *scratch) advance() (refused error) {
	defer func() { s.stats = s.frames.Stats() }()
	s.frames.Advance()
	if s.frames.Current().Available() == 0 {
		_, refused = s.frames.Alloc(1, 1)
	}
	return refused
}

// EndTask runs the hooks of the scratch arena, newest first, and then empties the arena. Call it on the worker's
// goroutine. Pointers into the arena are dangling afterwards. In debug builds reads through such pointers return 0xDD
// or fault until a later task reuses the memory. If a hook panics, the task stays open, and the next EndTask runs the
// remaining hooks. After Close the error is memory.ErrClosed. Before Close, outside a task, the error wraps ErrOrder.
// EndTask panics with a *memory.Misuse in a hook of the arena. If the program has closed the arena, the task ends, and
// the error wraps memory.ErrClosed and names it.
func (w *Worker) EndTask() error {
	s := &w.scratch
	if s.busy && !w.closed() && !s.lost() {
		s.frames.Reset() // hooks may use the worker
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.over || s.ended:
		return memory.ErrClosed
	case !s.busy:
		return fmt.Errorf("%w: EndTask outside a task; BeginTask first", ErrOrder)
	}
	s.over()
	if s.lost() {
		return w.closedScratch()
	}
	return nil
}

// lost reports whether the program has closed the arena, or the source of an open manager.
func (s *scratch) lost() bool { return s.frames.Current().Base() == nil }

func (w *Worker) closedScratch() error {
	return fmt.Errorf("tiers: the program has closed the scratch arena of worker %d, which only Manager.Close may close: %w", w.thread-1, memory.ErrClosed)
}

// Scratch returns the arena that BeginTask returned, for functions that run within the task. Call it on the worker's
// goroutine. Outside a task Scratch returns a closed arena; in debug builds it panics with a *memory.Misuse.
func (w *Worker) Scratch() *arena.Linear {
	if invariant.Debug && !w.scratch.busy {
		reason := "outside a task; BeginTask first"
		if w.closed() {
			reason = "the manager is closed"
		}
		panic(&memory.Misuse{Package: "tiers", Op: "Scratch", Reason: reason})
	}
	return w.scratch.cur
}

func (w *Worker) closed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over || w.scratch.ended
}

// check verifies the arena and the copy of its statistics. It does nothing during a task.
func (s *scratch) check() error {
	if s.busy {
		return nil
	}
	err := s.frames.Check()
	if now := s.frames.Stats(); now != s.stats || now.InUse != 0 || s.cur != s.shut {
		err = errors.Join(err, fmt.Errorf("no task is open, and scratch has %+v, noted %+v", now, s.stats))
	}
	return err
}

// closeScratch closes the arena before the heaps, because its hooks may use all heaps.
func (w *Worker) closeScratch() error {
	w.mu.Lock()
	w.scratch.ended = true
	w.mu.Unlock()
	err := w.scratch.frames.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.scratch.over()
	return err
}

// over records that the task, the arena or its source has ended.
func (s *scratch) over() { s.busy, s.cur, s.stats = false, s.shut, s.frames.Stats() }
