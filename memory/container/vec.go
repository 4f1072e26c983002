package container

import (
	"slices"
	"unsafe"
)

// A Vec is a growing array: what a Go slice and append are, off the Go heap. The zero Vec is
// empty and ready.
//
//	off              off + n*size        off + cap*size
//	  | x0 | x1 | x2 | ··· free ··· |
//
// It is 16 bytes without a pointer, and T must hold none either: the first call that needs
// memory says so with a *memory.PointerError. A Vec may lie anywhere, also in a block of its
// own space or in an element of another container. A copy of the value is a second name for
// the same elements, as with slices; once one of the two has grown, been shrunk or freed, the
// other is dead.
//
// Elements are aligned for T, and zeroed only where a method says so. They live until Free or
// the end of the allocator's block, whichever is first: after a Reset of the allocator the
// container is dead, and Forget makes it empty again. Indices out of range panic as those of
// slices do. Errors are those of the allocator's Alloc, and memory.ErrTooLarge beyond 2^31-1
// elements; a call that fails, or in which the allocator panics, has changed nothing. No method
// allocates on the Go heap. For goroutines see [Space].
//
// Under an allocator that frees newest first only (stack, arena.StepBack) a Vec grows while its
// block is the newest one, and never at the upper end of a stack.Double, where blocks do not grow in
// place. Otherwise growth panics with the allocator's *memory.Misuse: Reserve before.
//
// Invariants, verified by Check in this order:
//
//	(1) n <= cap <= 2^31-1
//	(2) without capacity, or with elements of no size, there is no block and off is 0
//	(3) T holds no Go pointer, off is aligned for T, and the block lies in the allocator's range; where the allocator
//	    knows its blocks, one that was requested with cap*size bytes starts there
type Vec[T any] struct {
	//lint:ignore U1000 it is there for its type
	of  [0]*T  // a Vec of another type does not convert to this one
	off uint64 // bytes from the base of the space
	n   uint32 // elements in use
	cap uint32 // elements that fit
}

// Len returns the number of elements.
func (v *Vec[T]) Len() int { return int(v.n) }

// Cap returns how many elements fit without growth.
func (v *Vec[T]) Cap() int { return int(v.cap) }

// At returns element i. Cost: three loads beside that of the element; in a loop take Slice.
func (v *Vec[T]) At(sp *Space, i int) (x T) {
	sp.bound(i, v.n)
	if unsafe.Sizeof(x) == 0 {
		return x
	}
	return *(*T)(unsafe.Add(sp.at(v.off), uintptr(i)*unsafe.Sizeof(x)))
}

// Set makes x element i.
func (v *Vec[T]) Set(sp *Space, i int, x T) { *v.Ptr(sp, i) = x }

// Ptr returns the address of element i, valid until the Vec grows, shrinks or is freed.
func (v *Vec[T]) Ptr(sp *Space, i int) *T {
	sp.bound(i, v.n)
	return v.slot(sp, i)
}

// slot returns the address of element i without looking at n. Elements of no size have no block, and
// where they would lie may be no memory, which the test of a pointer for nil reads: they are the Space.
func (v *Vec[T]) slot(sp *Space, i int) *T {
	if unsafe.Sizeof(*new(T)) == 0 {
		return (*T)(unsafe.Pointer(sp))
	}
	return (*T)(unsafe.Add(sp.at(v.off), uintptr(i)*unsafe.Sizeof(*new(T))))
}

// Slice returns the elements, for reading and writing, until the Vec grows, shrinks or is
// freed: what package slices can do is done with it. Appending to it moves to the Go heap.
func (v *Vec[T]) Slice(sp *Space) []T { return unsafe.Slice(v.slot(sp, 0), int(v.n)) }

// TryAppend is Append without growth: it inlines, and returns false where there is no room.
func (v *Vec[T]) TryAppend(sp *Space, x T) bool {
	if v.n >= v.cap {
		return false
	}
	if unsafe.Sizeof(x) > 0 {
		*(*T)(unsafe.Add(sp.at(v.off), uintptr(v.n)*unsafe.Sizeof(x))) = x
	}
	v.n++
	return true
}

// Append adds x at the end. Cost: a comparison and a store where there is room, constant when
// the growth, half as much again at least, is shared out.
func (v *Vec[T]) Append(sp *Space, x T) error {
	if n := v.n; n < v.cap {
		if unsafe.Sizeof(x) > 0 {
			*(*T)(unsafe.Add(sp.at(v.off), uintptr(n)*unsafe.Sizeof(x))) = x
		}
		v.n = n + 1
		return nil
	}
	return v.appendSlow(sp, x)
}

//go:noinline
func (v *Vec[T]) appendSlow(sp *Space, x T) error {
	if err := v.more(sp, 1); err != nil {
		return err
	}
	*v.slot(sp, int(v.n)) = x
	v.n++
	return nil
}

// AppendSlice adds the elements of xs at the end; xs may be a part of v, of elements also that were
// popped or cut off since.
func (v *Vec[T]) AppendSlice(sp *Space, xs []T) error {
	return v.insert(sp, int(v.n), xs)
}

// Insert puts xs in front of element i, or at the end where i is Len; what was there moves up.
// xs is as that of AppendSlice.
func (v *Vec[T]) Insert(sp *Space, i int, xs ...T) error {
	if uint(i) > uint(v.n) {
		_ = make([]struct{}, v.n)[i:]
	}
	return v.insert(sp, i, xs)
}

// insert is Insert without the look at i. Where xs lies in the block of v, also behind the last
// element, it is taken from where growth has put it: first to the end, where it overwrites nothing
// but itself, and from there into its place.
func (v *Vec[T]) insert(sp *Space, i int, xs []T) error {
	if len(xs) == 0 {
		return nil
	}
	size := unsafe.Sizeof(xs[0])
	from := uintptr(unsafe.Pointer(unsafe.SliceData(xs))) - uintptr(sp.base) - uintptr(v.off) // if it lies there
	inside := size > 0 && from < uintptr(v.cap)*size
	if err := v.more(sp, len(xs)); err != nil {
		return err
	}
	n := int(v.n) // now: who was told of it may have removed some
	i = min(i, n)
	all := unsafe.Slice(v.slot(sp, 0), n+len(xs))
	v.n += uint32(len(xs))
	if !inside {
		copy(all[i+len(xs):], all[i:n])
		copy(all[i:], xs)
		return nil
	}
	copy(all[n:], unsafe.Slice((*T)(unsafe.Add(sp.at(v.off), from)), len(xs)))
	slices.Reverse(all[i:n]) // a rotation
	slices.Reverse(all[n:])
	slices.Reverse(all[i:])
	return nil
}

// Pop removes the last element and returns it; false where there is none.
func (v *Vec[T]) Pop(sp *Space) (x T, ok bool) {
	if v.n == 0 {
		return x, false
	}
	v.n--
	return *v.slot(sp, int(v.n)), true
}

// Delete removes the elements from i up to j, as slices.Delete; those behind move down.
func (v *Vec[T]) Delete(sp *Space, i, j int) {
	s := v.Slice(sp)
	_ = s[i:j]
	copy(s[i:], s[j:])
	v.n -= uint32(j - i)
}

// SwapRemove removes element i, puts the last one in its place, and returns what was removed.
func (v *Vec[T]) SwapRemove(sp *Space, i int) T {
	p := v.Ptr(sp, i)
	x := *p
	v.n--
	*p = *v.slot(sp, int(v.n))
	return x
}

// SetLen makes the Vec n elements long: it cuts off the end, or adds zeroed elements.
func (v *Vec[T]) SetLen(sp *Space, n int) error {
	if n < 0 {
		_ = make([]struct{}, 0)[:n]
	}
	if extra := n - int(v.n); extra > 0 {
		if err := v.more(sp, extra); err != nil {
			return err
		}
		clear(unsafe.Slice(v.slot(sp, int(v.n)), n-int(v.n))) // now: who was told of it may have removed some
	}
	v.n = uint32(n)
	return nil
}

// Clear removes every element and keeps the memory.
func (v *Vec[T]) Clear() { v.n = 0 }

// Free gives the memory back and leaves the Vec empty and ready. If the allocator panics, as it does
// when the block was freed by a Reset, nothing has changed. If the header of the Vec was written over
// and the allocator knows the block, the *memory.Misuse is of this package and names the header.
func (v *Vec[T]) Free(sp *Space) {
	v.mustBeSound()
	was := *v
	v.Forget()
	sp.giveBack(was.off, uintptr(was.cap)*unsafe.Sizeof(*new(T)), func() { *v = was })
}

// mustBeSound panics where the header of the Vec was written over, as far as that shows by itself: before
// its size is passed to the allocator.
func (v *Vec[T]) mustBeSound() {
	noBlock(v.n > v.cap || v.cap > maxCount || v.off != 0 && (v.cap == 0 || unsafe.Sizeof(*new(T)) == 0), "Vec")
}

// Forget leaves the Vec empty and ready without giving the memory back: for when the allocator
// was reset, and the block died with the others.
func (v *Vec[T]) Forget() { *v = Vec[T]{} }

// Clone returns a Vec with the same elements and memory of its own in to, which may be another
// space.
func (v *Vec[T]) Clone(sp, to *Space) (c Vec[T], err error) {
	sp.at(v.off) // debug builds tell of a closed space here, before there is a block
	done := false
	defer func() {
		if !done { // on an error, and also if the allocator panics
			c.Free(to)
		}
	}()
	for c.Cap() < v.Len() { // again: who was told of it may have had v grow
		if err := c.more(to, v.Len()); err != nil {
			return c, err
		}
	}
	done = true
	return c, c.AppendSlice(to, v.Slice(sp))
}

// Check verifies the invariants and names all that is broken: for bytes that came from another
// process, or lay where somebody wrote. It allocates on the Go heap only if there is a fault. In an
// allocator that rounds sizes up it asks Resize whether the size is right, which is a write for the
// allocator's goroutine rule.
func (v *Vec[T]) Check(sp *Space) error {
	r := report{what: "Vec"}
	v.check(sp, &r, "elements")
	return r.err()
}

// check reports whether the elements may be read.
func (v *Vec[T]) check(sp *Space, r *report, name string) bool {
	size := unsafe.Sizeof(*new(T))
	if v.n > v.cap || v.cap > maxCount {
		r.say("%s: %d in use of %d, which is not within %d", name, v.n, v.cap, maxCount)
		return false
	}
	if v.cap == 0 || size == 0 {
		if v.off != 0 || v.cap%maxCount != 0 {
			r.say("%s: offset %d and capacity %d, but there is no block", name, v.off, v.cap)
		}
		return false
	}
	return byValue[T](r) && r.block(sp, name, v.off, uint64(v.cap), size, unsafe.Alignof(*new(T)))
}
