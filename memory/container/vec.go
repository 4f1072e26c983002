package container

import (
	"slices"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/findings"
)

// A Vec is a growing array off the Go heap, like a Go slice with append. The zero Vec is empty and ready.
//
//	start of the block                    its end
//	  | x0 | x1 | x2 | ··· free ··· |
//
// A Vec has 16 bytes and no pointer. If T contains a Go pointer, every call that needs memory returns a
// *memory.PointerError. A Vec may lie anywhere, also in a block of its own Space or in an element of another container.
// A copy of a Vec shares its elements, as a copy of a slice does. After a Vec has grown, was shrunk or freed, its
// copies must not be used.
//
// Elements are aligned for T. They are zeroed only if a method documents it. Elements are valid until Free, or until
// the allocator frees the block. After a Reset of the allocator the Vec must not be used before Forget makes it empty
// again. An index out of range, a negative length or a negative count panics as with a slice.
//
// If the allocator refuses memory, a method returns the error of the allocator's Alloc. Beyond 2^31-1 elements the
// error is memory.ErrTooLarge. If the allocator is closed, the error is memory.ErrClosed. If the allocator has a second
// range of addresses, the error wraps [ErrNoBase] (see [Space]). A call that fails, or in which the allocator panics,
// has changed nothing. Methods allocate on the Go heap only for an error, for a panic, and once for each type. Growth,
// Shrink and Free panic with a *memory.Misuse if the Vec was overwritten, as far as the Vec or the allocator's metadata
// show it. Any number of goroutines may read a Vec while none writes. [Space] has the rule for writers.
//
// In an allocator that frees newest first (stack, arena.StepBack), call Reserve for all elements before the first
// Append. There a block can change its size only in place, and only while it is the newest one. In all other cases
// growth and Shrink need a new block. They return the error of Alloc, or panic with the allocator's *memory.Misuse
// because the old block is no longer the newest.
type Vec[T any] struct {
	// Invariants, verified by Check in this order:
	//
	//	(1) n <= cap <= 2^31-1
	//	(2) without capacity, or with elements of no size, there is no block and off is 0
	//	(3) T contains no Go pointer, off is aligned for T, and the block lies in the allocator's range; if the
	//	    allocator records its blocks, one that was requested with cap*size bytes starts there
	//lint:ignore U1000 it is there for its type
	of  [0]*T  // a Vec of another type does not convert to this one
	off uint64 // bytes from the base of the space
	n   uint32 // elements in use
	cap uint32 // elements that fit
}

// Len returns the number of elements.
func (v *Vec[T]) Len() int { return int(v.n) }

// Cap returns how many elements fit in total without growth.
func (v *Vec[T]) Cap() int { return int(v.cap) }

// At returns a copy of element i. If i is out of range, At panics as a slice does. Cost: three loads and the load of
// the element. In a loop use [Vec.Slice].
func (v *Vec[T]) At(sp *Space, i int) (x T) {
	sp.bound(i, v.n)
	if unsafe.Sizeof(x) == 0 {
		return x
	}
	return *(*T)(unsafe.Add(sp.at(v.off), uintptr(i)*unsafe.Sizeof(x)))
}

// Set makes x element i. If i is out of range, Set panics as a slice does.
func (v *Vec[T]) Set(sp *Space, i int, x T) { *v.Ptr(sp, i) = x }

// Ptr returns the address of element i. The address is valid until the capacity of the Vec changes, until Free, or
// until the allocator frees the block. Insert, Delete and SwapRemove can move another element to the address. If i is
// out of range, Ptr panics as a slice does.
func (v *Vec[T]) Ptr(sp *Space, i int) *T {
	sp.bound(i, v.n)
	return v.slot(sp, i)
}

// slot returns the address of element i without checking n. Elements of no size have no block, so it returns the
// address of the Space, which can be read.
func (v *Vec[T]) slot(sp *Space, i int) *T {
	if unsafe.Sizeof(*new(T)) == 0 {
		return (*T)(unsafe.Pointer(sp))
	}
	return (*T)(unsafe.Add(sp.at(v.off), uintptr(i)*unsafe.Sizeof(*new(T))))
}

// Slice returns the elements, for reading and writing and for package slices. The slice is valid until the capacity of
// the Vec changes, until Free, or until the allocator frees the block. If elements are added or removed within the
// capacity, the slice stays valid and keeps its length. Appending to the slice allocates a copy on the Go heap.
func (v *Vec[T]) Slice(sp *Space) []T { return unsafe.Slice(v.slot(sp, 0), int(v.n)) }

// TryAppend is [Vec.Append] without growth. TryAppend inlines. If the Vec is full, TryAppend returns false and adds
// nothing. Otherwise it returns true.
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

// Append adds x at the end. If the Vec must grow and cannot, Append returns an error (see [Vec]) and adds nothing.
// Cost: a comparison and a store if x fits. If the memory is available, the Vec grows by about half or more, so the
// cost with growth is constant on average.
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

// AppendSlice adds the elements of xs at the end. If AppendSlice fails, it returns an error as Append does and adds
// none. The slice xs may be a part of v, even if v has become shorter since xs was made.
func (v *Vec[T]) AppendSlice(sp *Space, xs []T) error {
	return v.insert(sp, int(v.n), xs)
}

// Insert inserts xs before element i, or at the end if i is Len. The elements from i on move up. If Insert fails, it
// returns an error as Append does and inserts none. Insert panics unless 0 <= i <= Len. The slice xs may be a part of
// v, as in [Vec.AppendSlice].
func (v *Vec[T]) Insert(sp *Space, i int, xs ...T) error {
	if uint(i) > uint(v.n) {
		_ = make([]struct{}, v.n)[i:]
	}
	return v.insert(sp, i, xs)
}

// insert is Insert without the check of i. If xs lies in the block of v, also behind the last element, it is read where
// growth has put it. It is copied to the end first, where it overwrites nothing but itself, and from there to its
// place.
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
	n := int(v.n) // not before: a function that the allocator has called may have removed some
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

// Pop removes the last element and returns it and true. If the Vec is empty, Pop returns the zero value and false.
func (v *Vec[T]) Pop(sp *Space) (x T, ok bool) {
	if v.n == 0 {
		return x, false
	}
	v.n--
	return *v.slot(sp, int(v.n)), true
}

// Delete removes the elements from i to j-1. The elements after them move down. Delete panics
// unless 0 <= i <= j <= Len.
func (v *Vec[T]) Delete(sp *Space, i, j int) {
	s := v.Slice(sp)
	_ = s[i:j]
	copy(s[i:], s[j:])
	v.n -= uint32(j - i)
}

// SwapRemove removes element i and returns it. The last element moves to index i. If i is out of range, SwapRemove
// panics as a slice does. Cost: constant.
func (v *Vec[T]) SwapRemove(sp *Space, i int) T {
	p := v.Ptr(sp, i)
	x := *p
	v.n--
	*p = *v.slot(sp, int(v.n))
	return x
}

// SetLen changes the length to n. It removes elements at the end, or adds zeroed elements. If the Vec must grow and
// cannot, SetLen returns an error and changes nothing. A negative n panics.
func (v *Vec[T]) SetLen(sp *Space, n int) error {
	if n < 0 {
		_ = make([]struct{}, 0)[:n]
	}
	if extra := n - int(v.n); extra > 0 {
		if err := v.more(sp, extra); err != nil {
			return err
		}
		clear(unsafe.Slice(v.slot(sp, int(v.n)), n-int(v.n))) // not before: a function that the allocator has called may have removed some
	}
	v.n = uint32(n)
	return nil
}

// Clear removes every element and keeps the memory.
func (v *Vec[T]) Clear() { v.n = 0 }

// Free frees the memory and leaves the Vec empty and ready. If the Vec has memory and the allocator is closed or
// refuses the block, Free panics with a *memory.Misuse. A stack refuses a block that is not the newest. Free also
// panics if the header of the Vec was overwritten or a Reset has freed the block, as far as the header and the
// allocator's metadata show it. If Free panics, nothing has changed.
func (v *Vec[T]) Free(sp *Space) {
	v.mustBeSound()
	was := *v
	v.Forget()
	sp.giveBack(was.off, uintptr(was.cap)*unsafe.Sizeof(*new(T)), func() { *v = was })
}

// mustBeSound panics if the header of the Vec was overwritten, as far as the header alone shows it. It is called before
// its size is passed to the allocator.
func (v *Vec[T]) mustBeSound() {
	noBlock(v.n > v.cap || v.cap > maxCount || v.off != 0 && (v.cap == 0 || unsafe.Sizeof(*new(T)) == 0), "Vec")
}

// Forget leaves the Vec empty and ready without freeing the memory. Call Forget after the allocator was reset.
func (v *Vec[T]) Forget() { *v = Vec[T]{} }

// Clone returns a copy of the Vec with its elements. The memory of the copy is from the Space `to`, which may be
// sp. The caller owns the copy. If Clone fails, it returns an empty Vec and an error as Append does.
func (v *Vec[T]) Clone(sp, to *Space) (c Vec[T], err error) {
	sp.at(v.off) // panics in debug builds if the space is closed, before there is a block
	done := false
	defer func() {
		if !done { // on an error, and also if the allocator panics
			c.Free(to)
		}
	}()
	for c.Cap() < v.Len() { // again: a function that the allocator has called may have made v grow
		if err := c.more(to, v.Len()); err != nil {
			return c, err
		}
	}
	done = true
	err = c.AppendSlice(to, v.Slice(sp))
	return c, err
}

// Check verifies the metadata and returns the errors, or nil. It does not look at the elements. Only an error, or the
// first call for a type, allocates on the Go heap. To verify the size, Check may call Resize of the allocator: in debug
// builds, and if the allocator has rounded the size up. Such a Check counts as a write: see the rule for writes at
// [Space].
func (v *Vec[T]) Check(sp *Space) error {
	r := report{findings.List{Of: "container: Vec"}}
	v.check(sp, &r, "elements")
	return r.Err()
}

// check reports whether the elements may be read.
func (v *Vec[T]) check(sp *Space, r *report, name string) bool {
	size := unsafe.Sizeof(*new(T))
	if v.n > v.cap || v.cap > maxCount {
		r.Add("%s: %d in use of %d, which is not within %d", name, v.n, v.cap, maxCount)
		return false
	}
	if v.cap == 0 || size == 0 {
		if v.off != 0 || v.cap%maxCount != 0 {
			r.Add("%s: offset %d and capacity %d, but there is no block", name, v.off, v.cap)
		}
		return false
	}
	return byValue[T](r) && r.block(sp, name, v.off, uint64(v.cap), size, unsafe.Alignof(*new(T)))
}
