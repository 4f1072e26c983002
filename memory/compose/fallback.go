package compose

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// NewFallback returns an allocator that serves a request from first, or from second if first has no memory for it.
//
//	f, err := compose.NewFallback(scratch, heap)
//
// A request of at least one byte goes to second only if the error of first wraps memory.ErrOutOfMemory or
// memory.ErrTooLarge. Any other error of first is returned, also memory.ErrClosed. If second fails as well, its error
// is returned.
//
// If first owns the address of a block, calls with the block go to first. If not, they go to second. First must
// therefore own all its blocks, which a slab.Heap with Config.Large does not. The range that first owns must contain no
// block of second. Second also gets the pointers that neither part owns, and panics if it detects foreign pointers. A
// block may also be freed directly in its part. Resize does not move a block to the other part.
//
// For a block of size 0, a full part may return the end address of its memory, which it does not own. Free could then
// choose the wrong part. If first returns such a block, Alloc frees it, and second serves the request. If first owns
// the block of size 0 that second returns, Alloc frees this block and fails with memory.ErrOutOfMemory.
//
// Stats adds the statistics of both parts, also for blocks that were allocated without the composition. Peak, the sum
// of both peaks, is an upper bound. Failures counts the requests that both parts refused with memory.ErrOutOfMemory or
// memory.ErrTooLarge.
//
// The parts must have Owns, Stats, Check and Close. If a method is missing, the error wraps memory.ErrConfig and names
// the method. If a part is nil, or one allocator is passed as both parts, the error wraps memory.ErrConfig, too.
//
// Alignment, zeroing, lifetimes and the detection of misuse are as in the parts. The allocator belongs to one goroutine
// at a time. Cost: a call of Owns for each call with a block, and for an Alloc of size 0. If first is full, the cost
// includes its failed Alloc.
func NewFallback(first, second memory.Allocator) (Allocator, error) {
	f := new(fallback)
	if err := f.init("new Fallback", [2]string{"first", "second"}, first, second); err != nil {
		return nil, err
	}
	return expose(f, f.can()), nil
}

type fallback struct {
	pair
	failures uint64 // requests that both parts refused
}

func (f *fallback) whole() whole { return f }

func (f *fallback) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	if f.closed {
		return nil, memory.ErrClosed
	}
	if invariant.Debug {
		f.owner.Touch()
	}
	p, err := f.parts[0].Alloc(size, align)
	if err != nil {
		return f.fall(err, size, align)
	}
	if f.closed {
		return f.late(0, p, size)
	}
	if size == 0 && !f.parts[0].owner.Owns(p) {
		return f.beyond(p, align)
	}
	return p, nil
}

// beyond replaces a block of size 0 at the end of the first part's memory. Its address belongs to neither
// part, or to a neighbour.
//
//go:noinline
func (f *fallback) beyond(p unsafe.Pointer, align uintptr) (unsafe.Pointer, error) {
	f.parts[0].Free(p, 0)
	return f.fall(memory.ErrOutOfMemory, 0, align)
}

// fall serves a request from the second part if the error of the first allows it.
func (f *fallback) fall(err error, size, align uintptr) (unsafe.Pointer, error) {
	if !exhausted(err) {
		return nil, err
	}
	p, err := f.parts[1].Alloc(size, align)
	if f.closed && err == nil {
		return f.late(1, p, size)
	}
	if err == nil && size == 0 && f.parts[0].owner.Owns(p) {
		f.parts[1].Free(p, 0)
		p, err = nil, memory.ErrOutOfMemory
	}
	if err != nil && exhausted(err) {
		f.failures++
	}
	return p, err
}

func (f *fallback) Free(p unsafe.Pointer, size uintptr) {
	if p != nil {
		f.parts[f.of("Free", p, size)].Free(p, size)
	}
}

func (f *fallback) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	return f.parts[f.of("Resize", p, oldSize)].resizer.Resize(p, oldSize, newSize)
}

func (f *fallback) Stats() memory.Stats {
	s := f.parts[0].reporter.Stats().Add(f.parts[1].reporter.Stats())
	s.Failures = f.failures
	return s
}
