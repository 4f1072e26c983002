package tiers

import (
	"errors"
	"fmt"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// scratch is a worker's bump arena. Between the borders of a task it is the worker's alone, and
// nobody else looks at it; at the borders, with the worker's lock held, its figures are noted.
type scratch struct {
	frames *arena.Frames // one buffer, and those that rest in debug builds
	shut   *arena.Linear // closed: what Scratch returns outside of a task
	cur    *arena.Linear // the task's, or shut
	busy   bool          // a task is open; written with the lock held
	stats  memory.Stats  // at the last border
}

// scratchBytes returns the size of a worker's scratch arena, and the addresses that it takes from the
// worker's heap: a gap before it, and one after it, where a block of no bytes may start. Builds whose
// expired frames rest, see arena.RestingFrames, have addresses for those after the second gap.
func (c *Config) scratchBytes() (size, addresses uintptr) {
	size = min(align.Up(c.Scratch, page.BaseAlign), align.Down(c.Reserve[Inbox]/2, page.BaseAlign))
	return size, size + 2*page.BaseAlign
}

func (s *scratch) init(src page.Source, size uintptr) (err error) {
	if s.frames, err = arena.NewFrames(src, arena.FramesConfig{Buffers: 1, Bytes: size, Idle: true}); err != nil {
		return err
	}
	if s.shut, err = arena.NewLinear(page.Heap(), arena.LinearConfig{Bytes: page.Granule}); err != nil {
		return err
	}
	s.cur, s.stats = s.shut, s.frames.Stats()
	return s.shut.Close()
}

// BeginTask opens a task and returns the worker's scratch arena for it, which is empty: frame
// memory for a system that runs on a worker, of the type that Manager.Frame returns. Its blocks
// are valid until EndTask, or Rewind to an [arena.Mark] made in the task. In the task no lock is
// taken and nobody waits: the game's frames may begin and end meanwhile, for what is on a worker
// cannot be taken away by the game's clock. Worker's goroutine.
//
// The arena has Config.Scratch bytes, which the first task commits, out of the worker's share of
// the Inbox budget; they count in Stats. What a task has in use shows in Stats as Peak, Allocs and
// Frees when it has ended. The error wraps ErrOrder inside a task, memory.ErrOutOfMemory where
// the arena cannot be committed, and is memory.ErrClosed after Close; no task is open then.
func (w *Worker) BeginTask() (*arena.Linear, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &w.scratch
	switch {
	case w.over:
		return nil, memory.ErrClosed
	case s.busy:
		return nil, fmt.Errorf("%w: BeginTask inside a task; EndTask first", ErrOrder)
	}
	s.advance()
	if w.over {
		return nil, memory.ErrClosed // the source has ended meanwhile
	}
	if s.frames.Current().Available() == 0 {
		size, _ := w.m.cfg.scratchBytes()
		return nil, &memory.Exhausted{Op: "tiers: begin task", Need: size, Have: w.limit.Budget() - w.limit.Committed(), Limit: w.limit.Budget()}
	}
	s.busy, s.cur = true, s.frames.Current()
	return s.cur, nil
}

// advance begins the arena's next frame, and notes what it has, also where the source of its memory
// panics: in debug builds the last one's has been given back by then.
func (s *scratch) advance() {
	defer func() { s.stats = s.frames.Stats() }()
	s.frames.Advance()
}

// EndTask runs the hooks of the scratch arena, newest first, and empties it: in debug builds what
// is read through an old pointer from here on is 0xDD, or faults. Where a hook panics the task is
// still open, and the next EndTask runs those that are left. The error wraps ErrOrder outside a
// task, and is memory.ErrClosed after Close.
func (w *Worker) EndTask() error {
	s := &w.scratch
	if s.busy && !w.closed() {
		s.frames.Reset() // hooks may use the worker
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.over:
		return memory.ErrClosed
	case !s.busy:
		return fmt.Errorf("%w: EndTask outside a task; BeginTask first", ErrOrder)
	}
	s.busy, s.cur, s.stats = false, s.shut, s.frames.Stats()
	return nil
}

// Scratch returns the arena that BeginTask has returned, for whoever is called within the task.
// Outside of a task it returns an arena that is closed, and in debug builds panics with a
// *memory.Misuse. Worker's goroutine.
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
	return w.over
}

// check verifies the arena and what was noted of it. In a task there is only the note.
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

// closeScratch ends the arena before the heaps, since its hooks may use them, the worker's too.
func (w *Worker) closeScratch() error {
	err := w.scratch.frames.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.scratch.over()
	return err
}

// over notes that the arena has closed, or that its source has.
func (s *scratch) over() { s.busy, s.cur, s.stats = false, s.shut, s.frames.Stats() }
