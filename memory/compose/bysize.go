package compose

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// NewBySize returns an allocator that serves requests of up to limit bytes from small and all others from large. If
// limit is 0, small serves requests of size 0 only. If a part is full, the other part does not serve its requests: use
// [NewFallback] for that.
//
// The size that is passed to Free and Resize selects the part. If the size is on the wrong side of limit, the wrong
// part gets the pointer. This part panics if it detects foreign pointers. FreeAny and SizeOf call Owns of small to
// select the part. Small must therefore own all its blocks, which a slab.Heap with Config.Large does not. The range
// that small owns must contain no block of large. If the old and the new size are on different sides of limit, Resize
// checks only the block and its old size, and returns false.
//
// Stats adds the statistics of both parts, also for blocks that were allocated without the composition. Peak, the sum
// of both peaks, is an upper bound. LargestFree is LargestFree of large, if that exceeds limit. If not, it is
// LargestFree of small, at most limit.
//
// The parts must have Owns, Stats, Check and Close. If a method is missing, the error wraps memory.ErrConfig and names
// the method. If a part is nil, or one allocator is passed as both parts, the error wraps memory.ErrConfig, too.
//
// Alignment, zeroing, lifetimes and the detection of misuse are as in the parts. The allocator belongs to one
// goroutine at a time. Cost: a comparison for each call, and an Owns for each call of FreeAny and SizeOf.
func NewBySize(limit uintptr, small, large memory.Allocator) (Allocator, error) {
	b := &bySize{limit: limit}
	if err := b.init("new BySize", [2]string{"small", "large"}, small, large); err != nil {
		return nil, err
	}
	return expose(b, b.can()), nil
}

type bySize struct {
	pair
	limit uintptr // bytes: the largest request for the small part
}

func (b *bySize) whole() whole { return b }

// side returns the number of the part that serves size bytes.
func (b *bySize) side(size uintptr) int {
	if size <= b.limit {
		return 0
	}
	return 1
}

func (b *bySize) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	if b.closed {
		return nil, memory.ErrClosed
	}
	if invariant.Debug {
		b.owner.Touch()
	}
	i := b.side(size)
	p, err := b.parts[i].Alloc(size, align)
	if b.closed && err == nil {
		return b.late(i, p, size)
	}
	return p, err
}

func (b *bySize) Free(p unsafe.Pointer, size uintptr) {
	if p == nil {
		return
	}
	if invariant.Debug || b.closed {
		b.open("Free", p, size)
	}
	b.parts[b.side(size)].Free(p, size)
}

func (b *bySize) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	b.open("Resize", p, oldSize)
	i := b.side(oldSize)
	if i != b.side(newSize) {
		b.parts[i].resizer.Resize(p, oldSize, oldSize) // detects misuse that the refusal would hide
		return false
	}
	return b.parts[i].resizer.Resize(p, oldSize, newSize)
}

func (b *bySize) Stats() memory.Stats {
	small, large := b.parts[0].reporter.Stats(), b.parts[1].reporter.Stats()
	small.LargestFree = min(small.LargestFree, uint64(b.limit))
	if large.LargestFree <= uint64(b.limit) {
		large.LargestFree = 0
	}
	return small.Add(large)
}
