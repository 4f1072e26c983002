package compose

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// A BySize sends requests of up to Limit bytes to one allocator and all others to another. The
// size that Free and Resize are given says whose a block is, so that nobody is asked. A size on
// the wrong side of Limit meets the wrong allocator, which refuses the pointer as foreign.
//
// FreeAny and SizeOf have no size: one of the parts must be a memory.Owner, or they panic with a
// *memory.Misuse. Resize across Limit is refused: the block would be looked for on the other
// side afterwards. There is no way out of a part that is full: put a [Fallback] there.
//
// Alignment, zeroing, lifetimes and what is caught are those of the parts. One goroutine at a
// time.
type BySize struct {
	pair
	limit uintptr // bytes: the largest request for the small part
}

// NewBySize sends requests of up to limit bytes to small. The error says which of the two cannot
// be a part. A limit of 0 leaves small the blocks of no size.
func NewBySize(limit uintptr, small, large memory.Allocator) (*BySize, error) {
	b := &BySize{limit: limit}
	if err := b.init("new BySize", [2]string{"small", "large"}, small, large); err != nil {
		return nil, err
	}
	return b, nil
}

// Limit returns the largest size in bytes that goes to the small part.
func (b *BySize) Limit() uintptr { return b.limit }

// side returns which part serves size bytes.
func (b *BySize) side(size uintptr) int {
	if size <= b.limit {
		return 0
	}
	return 1
}

// Alloc returns a block of the part that serves the size. The error is that part's, or
// memory.ErrClosed; nothing has changed then.
func (b *BySize) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	if b.closed {
		return nil, memory.ErrClosed
	}
	if invariant.Debug {
		b.owner.Touch()
	}
	return b.parts[b.side(size)].Alloc(size, align)
}

// Free gives a block back to the part that serves its size. A nil pointer is a no-op; misuse
// panics as that part does.
func (b *BySize) Free(p unsafe.Pointer, size uintptr) {
	if p == nil {
		return
	}
	if invariant.Debug || b.closed {
		b.open("Free", p, size)
	}
	b.parts[b.side(size)].Free(p, size)
}

// Resize resizes a block in place within its part; false where that cannot, and where the new
// size is the other part's.
func (b *BySize) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	b.open("Resize", p, oldSize)
	i := b.side(oldSize)
	if i != b.side(newSize) {
		b.parts[i].resize(p, oldSize, oldSize, b.names[i]) // has the misuse found that a refusal would hide
		return false
	}
	return b.parts[i].resize(p, oldSize, newSize, b.names[i])
}

// owning returns which part owns p. If only one can tell, what it does not own is the other's.
func (b *BySize) owning(op string, p unsafe.Pointer) int {
	b.open(op, p, 0)
	small, large := &b.parts[0], &b.parts[1]
	switch {
	case small.owner != nil && small.owns(p):
		return 0
	case small.owner != nil:
		return 1
	case large.owner == nil:
		panic(misuse(op, p, 0, "neither the small allocator, a %T, nor the large one, a %T, can tell what it Owns", small.Allocator, large.Allocator))
	case large.owns(p):
		return 1
	}
	return 0
}

// FreeAny is Free without the size: the part that owns the block is asked for.
func (b *BySize) FreeAny(p unsafe.Pointer) {
	if p != nil {
		i := b.owning("FreeAny", p)
		b.parts[i].freeAny(p, b.names[i])
	}
}

// SizeOf returns what the part that owns the block does.
func (b *BySize) SizeOf(p unsafe.Pointer) uintptr {
	i := b.owning("SizeOf", p)
	return b.parts[i].sizeOf(p, b.names[i])
}

// Can returns what works on the blocks of both parts. For FreeAny and SizeOf one of them must be
// a memory.Owner.
func (b *BySize) Can() Capabilities {
	c := b.pair.Can()
	if b.parts[0].owner == nil && b.parts[1].owner == nil {
		c &^= FreesAny | Sizes
	}
	return c
}

// Stats adds the books of both parts, whoever else uses them. Peak is the sum of their peaks, an
// upper bound: they need not have been at the same time. LargestFree is what a request would
// get: no more than Limit from the small part, and more than that from the large one.
func (b *BySize) Stats() memory.Stats {
	small, large := b.parts[0].stats(), b.parts[1].stats()
	small.LargestFree = min(small.LargestFree, uint64(b.limit))
	if large.LargestFree <= uint64(b.limit) {
		large.LargestFree = 0
	}
	return small.Add(large)
}
