package arena

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// A StepBack is a Linear that can take back each block, newest first, and refuses any other
// order. It is for what tries and fails: a parser that backs out of an alternative, a level
// generator that removes the room it just placed.
//
//	base            off                     limit
//	  | live blocks  |  free                  | guard
//	  ^steps[0] ^steps[1]                               8 bytes a block, in the Go heap
//
// A stack.Stack is the other strict LIFO: it has marks that protect what is older, tells what
// its newest block is, and exists with two ends; for that its log keeps 24 bytes a block. A
// StepBack keeps where a block starts and what to return to, the size follows; undoing needs
// neither pointer nor size, and a count, Len, is all the mark there is.
//
// Blocks are not zeroed. They belong to the caller until the Undo, UndoTo, Free, Reset or
// Close that frees them. A block of size 0 takes one byte, so that no two live blocks share
// an address; Free does not tell it from one of size 1. One goroutine at a time. After Close,
// or once the source has ended, every Alloc fails with memory.ErrClosed.
//
// Invariants, verified by Check in this order:
//
//	(1) off <= limit <= committed
//	(2) steps ascend: each has under <= start < the next one's under <= off, the padding
//	    start-under is less than memory.MaxAlign, and the first one's under is 0
//	(3) len(steps) <= allocs
//	(4) peak <= reserved
type StepBack struct {
	base   unsafe.Pointer // nil once closed
	off    uintptr        // first free byte, from base
	limit  uintptr        // end of what may be handed out, from base
	steps  []step         // of the live blocks, oldest first
	allocs uint64         // successful allocations since New

	peak     uintptr // highest off seen when something was freed; Stats joins the current one
	failures uint64
	mem      page.Prefix
	owner    invariant.Owner
}

// A step is one live block. Its end is the under of the next one, or off.
type step struct {
	start uint32 // from base
	under uint32 // off before it, which its Undo restores
}

// StepBackConfig configures NewStepBack.
type StepBackConfig struct {
	// Bytes is the capacity, committed at once, less than 4 GiB. 0 means 1 MiB.
	Bytes uintptr
}

// startSteps is the room of a fresh log: that many blocks cost no Go allocation.
const startSteps = 256

// NewStepBack takes its block from src; nil means page.Default(). The error wraps what src
// returned, or memory.ErrConfig from 4 GiB on; nothing is kept.
func NewStepBack(src page.Source, cfg StepBackConfig) (*StepBack, error) {
	if cfg.Bytes == 0 {
		cfg.Bytes = 1 << 20
	}
	if uint64(cfg.Bytes) > math.MaxUint32 {
		return nil, fmt.Errorf("arena: new StepBack: Bytes %d: want at most %d: %w: %w", cfg.Bytes, uint64(math.MaxUint32), memory.ErrConfig, memory.ErrTooLarge)
	}
	mem, err := page.NewCommitted(src, cfg.Bytes, cfg.Bytes, 0, cfg.Bytes)
	if err != nil {
		return nil, fmt.Errorf("arena: new StepBack of %d bytes: %w", cfg.Bytes, err)
	}
	s := &StepBack{base: mem.Base(), limit: cfg.Bytes, steps: make([]step, 0, startSteps), mem: mem}
	s.mem.Watch(s.shut)
	return s, nil
}

// Alloc returns size bytes aligned to align, a power of two up to 4096. The error is bare
// memory.ErrOutOfMemory, memory.ErrTooLarge, memory.ErrAlign or memory.ErrClosed. Cost:
// constant, one call; the log grows by doubling.
func (s *StepBack) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	mask := align - 1
	under := s.off
	start := (under + mask) &^ mask
	end := start + max(size, 1)
	if end > s.limit || end < start || mask/memory.MaxAlign|align&mask != 0 {
		return nil, s.refuse(size, align)
	}
	s.off = end
	s.allocs++
	s.steps = append(s.steps, step{uint32(start), uint32(under)})
	p := unsafe.Add(s.base, start)
	if invariant.Debug {
		s.owner.Touch()
		invariant.Fresh(p, end-start)
	}
	return p, nil
}

//go:noinline
func (s *StepBack) refuse(size, al uintptr) error {
	if s.base == nil {
		return memory.ErrClosed
	}
	if !align.Valid(al) {
		return memory.ErrAlign
	}
	s.failures++
	if size > s.limit {
		return memory.ErrTooLarge
	}
	return memory.ErrOutOfMemory
}

// Undo frees the newest block and reports whether there was one. On a closed arena it panics
// with a *memory.Misuse. Cost: constant.
func (s *StepBack) Undo() bool {
	n := len(s.steps) - 1
	if n < 0 {
		s.mustBeOpen("Undo")
		return false
	}
	s.owner.Touch()
	s.cut(n)
	return true
}

// UndoTo frees all blocks but the n oldest: what Len was before an attempt undoes the attempt.
// An n that is not from 0 to Len panics with a *memory.Misuse. Cost: constant.
func (s *StepBack) UndoTo(n int) {
	s.mustBeOpen("UndoTo")
	if n < 0 || n > len(s.steps) {
		panic(s.misuse("UndoTo", nil, 0, fmt.Sprintf("%d blocks were to stay of %d live", n, len(s.steps))))
	}
	s.owner.Touch()
	if n < len(s.steps) {
		s.cut(n)
	}
}

// Free is Undo for a caller that holds the block: p must be the newest one and size its size.
// Nil is a no-op. Everything else panics with a *memory.Misuse that names p and the newest.
func (s *StepBack) Free(p unsafe.Pointer, size uintptr) {
	n := len(s.steps) - 1
	off := uintptr(p) - uintptr(s.base)
	if n < 0 || uintptr(s.steps[n].start) != off || off+max(size, 1) != s.off {
		if p == nil {
			return
		}
		panic(s.misuse("Free", p, size, s.reason(off, size)))
	}
	s.owner.Touch()
	s.cut(n)
}

// cut frees all blocks but the n oldest; there are more than n.
func (s *StepBack) cut(n int) {
	s.peak = max(s.peak, s.off)
	under := uintptr(s.steps[n].under)
	invariant.Freed(unsafe.Add(s.base, under), s.off-under)
	s.off = under
	s.steps = s.steps[:n]
}

// Resize changes the size of the newest block in place and reports whether it could: a parser
// that does not know the length of a string starts with a guess. An older block yields false
// and nothing has changed. What Free would refuse for another reason panics as there.
func (s *StepBack) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	s.owner.Touch()
	off := uintptr(p) - uintptr(s.base)
	i := s.at(off)
	if i < 0 || uintptr(s.steps[i].start) != off || s.end(i) != off+max(oldSize, 1) {
		panic(s.misuse("Resize", p, oldSize, s.reason(off, oldSize)))
	}
	end := off + max(newSize, 1)
	if i != len(s.steps)-1 || end > s.limit || end < off {
		return false
	}
	s.peak = max(s.peak, s.off)
	if end > s.off {
		invariant.Fresh(unsafe.Add(s.base, s.off), end-s.off)
	} else {
		invariant.Freed(unsafe.Add(s.base, end), s.off-end)
	}
	s.off = end
	return true
}

// Len returns how many blocks are live.
func (s *StepBack) Len() int { return len(s.steps) }

// Base returns the address from which the offsets of blocks count, constant until Close; nil
// once closed.
func (s *StepBack) Base() unsafe.Pointer { return s.base }

// Owns reports whether p lies in the arena's range, live or not.
func (s *StepBack) Owns(p unsafe.Pointer) bool { return s.mem.Contains(p) }

// Used returns the bytes in use, padding included.
func (s *StepBack) Used() uintptr { return s.off }

// Available returns the bytes left, before padding for alignment.
func (s *StepBack) Available() uintptr { return s.limit - s.off }

// Reset frees every block. Cost: constant. On a closed arena it panics with a *memory.Misuse.
func (s *StepBack) Reset() {
	s.mustBeOpen("Reset")
	s.UndoTo(0)
}

// Close releases the memory: no pointer into the arena may be used any more. A second Close
// does nothing. If the memory cannot be released the arena is empty, and open unless it was
// decommitted already, and Close may be called again.
func (s *StepBack) Close() error {
	if s.mem.Base() == nil {
		return nil
	}
	if s.base != nil {
		s.Reset()
	}
	defer func() { // also where the source panics
		if s.mem.Committed() < s.limit {
			s.shut()
		}
	}()
	if err := s.mem.Close(); err != nil {
		return fmt.Errorf("arena: close: %w", err)
	}
	return nil
}

// shut puts the books into the state of a closed arena and touches no block.
func (s *StepBack) shut() {
	s.peak = max(s.peak, s.off)
	s.base, s.off, s.limit, s.steps = nil, 0, 0, nil
}

// Stats derives the books. Peak is exact.
func (s *StepBack) Stats() memory.Stats {
	live := uint64(len(s.steps))
	return memory.Stats{
		Reserved: uint64(s.mem.Reserved()), Committed: uint64(s.mem.Committed()),
		InUse: uint64(s.off), Peak: uint64(max(s.peak, s.off)),
		Live: live, Allocs: s.allocs, Frees: s.allocs - live, Failures: s.failures,
	}
}
