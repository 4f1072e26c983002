package compose

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// A Fallback asks its second allocator for what the first has no memory for.
//
//	f, err := compose.NewFallback(scratch, heap)
//
// A block belongs to the part that made it and is freed there: the first is asked whether it
// owns the address, and what it does not own is the second's. So the first must be a
// memory.Owner whose range holds no block of the second, and a foreign pointer is refused under
// the name of the second. Only want of memory falls back, memory.ErrOutOfMemory and ErrTooLarge;
// every other error of the first, also memory.ErrClosed, is the answer. A block of no bytes for
// which the first is full, since it would lie where its memory ends, is the second's, too; and where
// the second is full as well, and ends where the first begins, there is none.
//
// Alignment, zeroing, lifetimes and what is caught are those of the parts. Resize stays in the
// part of the block and never moves it. In Stats a request counts as a failure when both have
// refused it. One goroutine at a time.
type Fallback struct {
	pair
	failures uint64 // requests that both parts refused
}

// NewFallback puts second behind first. From now on both are used through it, or with care:
// a block may be given back to its part or to the Fallback. The error says which of the two
// cannot be a part, as a first that is no memory.Owner.
func NewFallback(first, second memory.Allocator) (*Fallback, error) {
	f := new(Fallback)
	if err := f.init("new Fallback", [2]string{"first", "second"}, first, second); err != nil {
		return nil, err
	}
	if f.parts[0].owner == nil {
		return nil, fmt.Errorf("compose: new Fallback: the first allocator, a %T, cannot tell what it Owns, and so whose a block is: %w", first, memory.ErrConfig)
	}
	return f, nil
}

// Alloc returns a block of the first allocator, or of the second where the first has no memory
// for it. The error is that of the last one asked, or memory.ErrClosed; nothing has changed then.
func (f *Fallback) Alloc(size, align uintptr) (unsafe.Pointer, error) {
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
	if size == 0 && !f.parts[0].owner.Owns(p) {
		return f.behind(p, align)
	}
	return p, nil
}

// behind is what becomes of a block of no bytes that lies where the memory of the first allocator
// ends, as in a full arena: by its address it is nobody's, or a neighbour's.
//
//go:noinline
func (f *Fallback) behind(p unsafe.Pointer, align uintptr) (unsafe.Pointer, error) {
	f.parts[0].Free(p, 0)
	return f.fall(memory.ErrOutOfMemory, 0, align)
}

// fall asks the second allocator, unless what the first said is not for want of memory.
func (f *Fallback) fall(err error, size, align uintptr) (unsafe.Pointer, error) {
	if !wants(err) {
		return nil, err
	}
	p, err := f.parts[1].Alloc(size, align)
	if err == nil && size == 0 && f.parts[0].owner.Owns(p) {
		f.parts[1].Free(p, 0)
		p, err = nil, memory.ErrOutOfMemory
	}
	if err != nil && wants(err) {
		f.failures++
	}
	return p, err
}

// side returns which part p is to be given back to.
func (f *Fallback) side(op string, p unsafe.Pointer, size uintptr) int {
	if invariant.Debug || f.closed {
		f.open(op, p, size)
	}
	if f.parts[0].owner.Owns(p) {
		return 0
	}
	return 1
}

// Free gives a block back to the part that it came from. A nil pointer is a no-op; misuse panics
// as that part does.
func (f *Fallback) Free(p unsafe.Pointer, size uintptr) {
	if p != nil {
		f.parts[f.side("Free", p, size)].Free(p, size)
	}
}

// FreeAny is Free without the size.
func (f *Fallback) FreeAny(p unsafe.Pointer) {
	if p != nil {
		i := f.side("FreeAny", p, 0)
		f.parts[i].freeAny(p, f.names[i])
	}
}

// SizeOf returns what the part of the block does.
func (f *Fallback) SizeOf(p unsafe.Pointer) uintptr {
	i := f.side("SizeOf", p, 0)
	return f.parts[i].sizeOf(p, f.names[i])
}

// Resize resizes a block in place within its part; false where that cannot.
func (f *Fallback) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	i := f.side("Resize", p, oldSize)
	return f.parts[i].resize(p, oldSize, newSize, f.names[i])
}

// Stats adds the books of both parts, whoever else uses them. Peak is the sum of their peaks, an
// upper bound: they need not have been at the same time. Failures are those of the Fallback.
func (f *Fallback) Stats() memory.Stats {
	s := f.parts[0].stats().Add(f.parts[1].stats())
	s.Failures = f.failures
	return s
}
