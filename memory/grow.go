package memory

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/align"
)

// Grow changes the size of a block of a from oldSize, with which it was asked for, to newSize,
// which may be smaller, and returns where it is now, aligned to alignment. What both sizes cover
// is kept, what is new is not zeroed. It stays in place where a is a [Resizer] that can do that;
// otherwise a new block is asked for, the contents are copied, and the old one is freed. A nil p
// is a block of no bytes that nobody has asked for yet: Grow is Alloc then.
//
// The block belongs to the caller as before; all other pointers to it are dead when it has moved.
// A block that moves is a new one for what looks at age, as a leak report at the end of a level,
// and in an arena the old one keeps its bytes until the reset.
//
// On failure Grow returns p, live, with its contents, and the error of Alloc; so
//
//	p, err = memory.Grow(a, p, oldSize, newSize, 16)
//
// loses nothing. What a.Free would refuse panics with a [*Misuse]: before anything has changed
// where a's Resize finds it or, if a is a [Sizer] and no Resizer, where SizeOf does, for which an
// oldSize that is too small is fine; and else out of the Free of the old block, up to oldSize bytes
// of which have been read by then. An a that is no Resizer is not asked to Free where the size and
// the place stay the same, and what only its Free knows goes unseen. Out of whatever panics, the
// new block is given back. A block of a stack that cannot be resized in place is such a misuse,
// too: it is not the newest when its copy exists.
//
// Cost: Resize's, or those of Alloc and Free and the copy. Whoever grows a block one by one does
// well to double it where Resize does not go on: then each byte is copied once on average.
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

// growInPlace resizes p where it lies, if it may stay and a can, and has a's books refuse what is
// no block of oldSize bytes.
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

// move copies what the block p has in common with q and frees p. A panic on the way frees q.
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

// GrowSlice changes the length of a slice that [MakeSlice] or GrowSlice returned to n, which may
// be smaller: the values that both lengths cover are kept, new ones are zero, and length and
// capacity are n. It is [Grow] for slices, and [MakeSlice] for a nil one; [FreeSlice] gives back
// the result, and s is dead where it has moved.
//
// On failure it returns s as it is, live, and the error: a [*PointerError], what a.Alloc returned,
// or [ErrTooLarge] where n is negative or n*size overflows. s must be the whole slice: one that
// was cut or appended to is misuse, as in FreeSlice, and so is an empty slice of Go's.
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
