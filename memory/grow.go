package memory

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/align"
)

// Grow changes the size of the block p of a from oldSize to newSize bytes, and returns its address. oldSize must be
// the size that was requested; newSize may be smaller. The address is aligned to alignment. The bytes within both
// sizes are kept; new bytes are not zeroed.
//
// The block stays at its address if a is a [Resizer] that can resize it, or if a is no Resizer and the size does not
// change. In all other cases, and always if p is not aligned to alignment, Grow allocates a new block, copies the
// contents and frees the old block. If p is nil, Grow is a.Alloc(newSize, alignment), and oldSize is ignored.
//
// The caller owns the returned block, and all other pointers to a moved block are dangling. A moved block counts as a
// new allocation in statistics and leak reports. An arena that reclaims only its newest block keeps the bytes of the
// old block in use until a Rewind, Reset or Advance.
//
// If Grow fails, it returns p and an error: the error of Alloc, or [ErrAlign]. The block p is then still live and has
// its contents, so this statement loses nothing:
//
//	p, err = memory.Grow(a, p, oldSize, newSize, 16)
//
// Grow panics with a [*Misuse] if a detects that p is not a live block of oldSize bytes. A Resizer detects this misuse
// before anything changes. A [Sizer] also detects it before anything changes, except for a wrong oldSize that does not
// exceed SizeOf. Other allocators detect the misuse in Free, after up to oldSize bytes were copied; Grow then frees the
// new block. If a is neither a Resizer nor a Sizer, and the block stays at its address, the misuse is not detected.
//
// A block of a stack.End or an arena.StepBack cannot move, because only the newest block can be freed. If such a block
// would have to move, Grow returns the error of Alloc, or panics with a [*Misuse] if Alloc succeeds. The block p stays
// live in both cases.
//
// Cost: Resize, or Alloc, a copy and Free. A caller that grows a block step by step should double the size in each
// step: each byte is then copied once on average.
func Grow(a Allocator, p unsafe.Pointer, oldSize, newSize, alignment uintptr) (unsafe.Pointer, error) {
	if p == nil {
		return a.Alloc(newSize, alignment)
	}
	if !align.Valid(alignment) {
		return p, ErrAlign
	}
	if growInPlace(a, p, oldSize, newSize, uintptr(p)&(alignment-1) == 0) {
		return p, nil
	}
	q, err := a.Alloc(newSize, alignment)
	if err != nil {
		return p, err
	}
	move(a, q, newSize, p, oldSize)
	return q, nil
}

// growInPlace resizes p at its address, if it may stay and a can. It panics if a detects that p is
// not a block of oldSize bytes.
func growInPlace(a Allocator, p unsafe.Pointer, oldSize, newSize uintptr, stays bool) bool {
	if r, ok := a.(Resizer); ok {
		if stays {
			return r.Resize(p, oldSize, newSize)
		}
		r.Resize(p, oldSize, oldSize)
		return false
	}
	if z, ok := a.(Sizer); ok {
		if has := z.SizeOf(p); has < oldSize {
			panic(&Misuse{Package: "memory", Op: "Grow", Addr: uintptr(p), Size: oldSize,
				Reason: fmt.Sprintf("wrong size: the block has %d bytes, not %d", has, oldSize)})
		}
	}
	return stays && newSize == oldSize
}

// move copies the bytes that p and q have in common and frees p. If a call panics, it frees q.
func move(a Allocator, q unsafe.Pointer, newSize uintptr, p unsafe.Pointer, oldSize uintptr) {
	moved := false
	defer func() {
		if !moved {
			a.Free(q, newSize)
		}
	}()
	n := min(oldSize, newSize)
	copy(unsafe.Slice((*byte)(q), n), unsafe.Slice((*byte)(p), n))
	a.Free(p, oldSize)
	moved = true
}

// GrowSlice changes the length of s to n, larger or smaller. s must be nil or returned by [MakeSlice], [Clone] or
// GrowSlice. Values within both lengths are kept, new values are zero, and the capacity is n. If s is nil, GrowSlice
// works as [MakeSlice]. Otherwise it works as [Grow]. The caller owns the result and frees it with [FreeSlice]. After a
// success s must not be used.
//
// If GrowSlice fails, it returns s and an error, and s is still live. If T contains a Go pointer, the error is a
// [*PointerError]. If n is negative or n times the size of T overflows, the error is [ErrTooLarge]. All other errors
// are those of a.Alloc.
//
// GrowSlice panics with a [*Misuse] if [Grow] would. Passing a slice that was cut or appended to is misuse, as in
// [FreeSlice]. Passing an empty slice that Go allocated is misuse, too.
func GrowSlice[T any](a Allocator, s []T, n int) ([]T, error) {
	if err := PointerFree[T](); err != nil {
		return s, err
	}
	each := unsafe.Sizeof(*new(T))
	size, ok := align.Mul(n, each)
	if !ok {
		return s, ErrTooLarge
	}
	p, err := Grow(a, unsafe.Pointer(unsafe.SliceData(s)), uintptr(len(s))*each, size, unsafe.Alignof(*new(T)))
	if err != nil {
		return s, err
	}
	t := unsafe.Slice((*T)(p), n)
	clear(t[min(len(s), n):])
	return t, nil
}
