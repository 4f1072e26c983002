package arena

import (
	"cmp"
	"fmt"
	"math"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/internal/tally"
	"github.com/strata-go/strata/memory/page"
)

// A StepBack is an arena (a bump allocator) that can undo each block, newest first, and in no other order. It is for
// attempts: a parser that abandons an alternative, or a level generator that removes the last chamber again.
//
//	base            off                     limit
//	  | live blocks  |  free                  | guard
//	  ^step 0   ^step 1                                 8 bytes for each block, in the Go heap
//
// A stack.Stack is a strict LIFO as well. A Stack has marks that protect older blocks, returns its newest block, and
// needs 24 bytes of metadata for a block. A StepBack undoes without a pointer or a size, and the number of blocks,
// Len, serves as a mark.
//
// Blocks are not zeroed. They belong to the caller until the Undo, UndoTo, Free, Reset or Close that frees them, until
// a state without them is loaded, or until the source ends. A block of size 0 takes one byte, so that no two live
// blocks share an address. Free does not distinguish a block of size 0 from a block of size 1. A StepBack belongs to
// one goroutine at a time. A StepBack is closed after Close, and after its source has ended. In a closed StepBack,
// Alloc fails with memory.ErrClosed; Undo, UndoTo, Resize, Reset and a Free of a block panic with a *memory.Misuse.
type StepBack struct {
	// Invariants, verified by Check in this order:
	//
	//	(1) off <= limit <= committed
	//	(2) steps ascend: each has under <= start < the next one's under <= off, the padding
	//	    start-under is less than memory.MaxAlign, and the first one's under is 0
	//	(3) len(steps) <= allocs
	//	(4) peak <= reserved

	base   unsafe.Pointer // nil once closed
	off    uintptr        // first free byte, from base
	limit  uintptr        // end of the usable bytes, from base
	steps  []step         // of the live blocks, oldest first
	allocs uint64         // successful allocations since New

	peak     uintptr // highest off when something was freed; Stats takes the current one into account
	failures uint64
	name     string // in errors
	refusals tally.Refusals
	mem      page.Prefix
	owner    invariant.Owner
}

// A step is one live block. Its end is the under of the next one, or off.
type step struct {
	start uint32 // from base
	under uint32 // off before it, which its Undo restores
}

// StepBackConfig configures [NewStepBack].
type StepBackConfig struct {
	// Bytes is the capacity in bytes, less than 4 GiB, on 32-bit systems less than 2 GiB. NewStepBack commits all of
	// it. 0 means 1 MiB.
	Bytes uintptr
}

// startSteps is the capacity of a new log: so many blocks need no Go allocation.
const startSteps = 256

// NewStepBack returns a StepBack with memory of src. If src is nil, it is page.Default(). If Bytes is too large, the
// error wraps memory.ErrConfig. If src fails, the error wraps the error that page.NewCommitted returns. If NewStepBack
// fails, it releases its reservation. If src cannot release it, the addresses stay reserved.
func NewStepBack(src page.Source, cfg StepBackConfig) (*StepBack, error) {
	cfg.Bytes = cmp.Or(cfg.Bytes, 1<<20)
	if uint64(cfg.Bytes) > math.MaxUint32 {
		return nil, fmt.Errorf("arena: new StepBack: Bytes %d: want at most %d: %w: %w", cfg.Bytes, uint64(math.MaxUint32), memory.ErrConfig, memory.ErrTooLarge)
	}
	mem, err := page.NewCommitted(src, cfg.Bytes, cfg.Bytes, 0, cfg.Bytes)
	if err != nil {
		return nil, fmt.Errorf("arena: new StepBack of %d bytes: %w", cfg.Bytes, err)
	}
	s := &StepBack{base: mem.Base(), limit: cfg.Bytes, steps: make([]step, 0, startSteps), name: mem.NameOr("arena: StepBack"), mem: mem}
	s.mem.Watch(s.shut)
	return s, nil
}

// Alloc returns size bytes aligned to align, a power of two up to 4096. If size is 0, Alloc returns one byte. If the
// arena is closed, the error is memory.ErrClosed. If align is invalid, the error is memory.ErrAlign. If size exceeds
// the capacity, the error is memory.ErrTooLarge. If the block does not fit now, the error is a *memory.Exhausted. Cost:
// constant, one call. Alloc allocates on the Go heap only if more than 256 blocks are live, and more than ever before.
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
	return s.refusals.Of(memory.Exhausted{Op: s.name, Need: max(size, 1) + -s.off&(al-1), Have: s.limit - s.off, Limit: s.limit})
}

// Undo frees the newest block and reports whether there was one. Undo panics with a *memory.Misuse if the arena is
// closed. Cost: constant.
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

// UndoTo frees all blocks but the n oldest. To undo an attempt, pass the result of Len from before the attempt.
// UndoTo panics with a *memory.Misuse if the arena is closed, or if n is not from 0 to Len. Cost: constant.
func (s *StepBack) UndoTo(n int) {
	s.mustBeOpen("UndoTo")
	if n < 0 || n > len(s.steps) {
		panic(s.misuse("UndoTo", nil, 0, fmt.Sprintf("%d blocks to keep: want 0 to %d, the live blocks", n, len(s.steps))))
	}
	s.owner.Touch()
	if n < len(s.steps) {
		s.cut(n)
	}
}

// Free is [StepBack.Undo] with a check: p must be the newest block, and size must be the size of this block. If p is
// nil, Free does nothing. For any other p or size, and for a block of a closed arena, Free panics with a
// *memory.Misuse.
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

// cut frees all blocks but the n oldest. There must be more than n.
func (s *StepBack) cut(n int) {
	s.peak = max(s.peak, s.off)
	under := uintptr(s.steps[n].under)
	invariant.Freed(unsafe.Add(s.base, under), s.off-under)
	s.off = under
	s.steps = s.steps[:n]
}

// Resize changes the size of the newest block in place and reports whether it did. If the capacity is too small, Resize
// returns false and changes nothing. For an older block, Resize always returns false. Resize panics with a
// *memory.Misuse if p is nil or not a live block of oldSize bytes, or if the arena is closed. Cost: a binary search in
// the live blocks.
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

// Len returns the number of live blocks. If the arena is closed, Len returns 0.
func (s *StepBack) Len() int { return len(s.steps) }

// Base returns the start of the reservation, to which offsets of blocks are relative. It is constant while the arena is
// open. If the arena is closed, Base returns nil.
func (s *StepBack) Base() unsafe.Pointer { return s.base }

// Owns reports whether p lies in the arena's reservation. p need not be in a live block. If the memory has been
// released or the source has ended, Owns returns false.
func (s *StepBack) Owns(p unsafe.Pointer) bool { return s.mem.Contains(p) }

// Used returns the bytes in use, with padding. If the arena is closed, Used returns 0.
func (s *StepBack) Used() uintptr { return s.off }

// Available returns the free bytes. The padding for the alignment of a block takes some of them. If the arena is
// closed, Available returns 0.
func (s *StepBack) Available() uintptr { return s.limit - s.off }

// Reset frees every block. Cost: constant. Reset panics with a *memory.Misuse if the arena is closed.
func (s *StepBack) Reset() {
	s.mustBeOpen("Reset")
	s.UndoTo(0)
}

// Close frees every block and releases the memory. Afterwards the caller must not use pointers into the arena. If the
// page source cannot release the memory, Close returns an error. All blocks are freed nevertheless, and Close can be
// called again. If a part of the memory was decommitted before the error, the arena is closed. If nothing was
// decommitted, the arena stays open and can be used. After a Close that succeeded, and after the source has ended,
// Close does nothing and returns nil.
func (s *StepBack) Close() error {
	if s.mem.Base() == nil {
		return nil
	}
	if s.base != nil {
		s.Reset()
	}
	defer func() { // also if the source panics
		if s.mem.Committed() < s.limit {
			s.shut()
		}
	}()
	if err := s.mem.Close(); err != nil {
		return fmt.Errorf("arena: close: %w", err)
	}
	return nil
}

// shut puts the metadata into the state of a closed arena and touches no block.
func (s *StepBack) shut() {
	s.peak = max(s.peak, s.off)
	s.base, s.off, s.limit, s.steps = nil, 0, 0, nil
}

// Stats returns the statistics. Peak is exact.
func (s *StepBack) Stats() memory.Stats {
	live := uint64(len(s.steps))
	return memory.Stats{
		Reserved: uint64(s.mem.Reserved()), Committed: uint64(s.mem.Committed()),
		InUse: uint64(s.off), Peak: uint64(max(s.peak, s.off)),
		Live: live, Allocs: s.allocs, Frees: s.allocs - live, Failures: s.failures,
	}
}
