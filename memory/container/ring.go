package container

import (
	"iter"
	"math/bits"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/findings"
)

// A Ring is a queue with two ends in one block. Its elements wrap round the end of the block. When the Ring is full,
// it grows. The zero Ring is empty and ready.
//
//	start          first element            end of the block
//	  | x2 | x3 | ··· free ··· | x0 | x1 |
//
// A Ring has 24 bytes and no pointer. The rules of [Vec] apply to elements, lifetimes, errors, panics, goroutines and
// copies, and to growth in an allocator that frees newest first. The capacity is 0 or a power of two. Beyond 2^30
// elements the error is memory.ErrTooLarge.
type Ring[T any] struct {
	// Invariants, verified by Check in this order:
	//
	//	(1) cap is 0 or a power of two up to 2^30; n <= cap, and head < cap or 0
	//	(2) without capacity, or with elements of no size, there is no block and off is 0
	//	(3) T, off and the block are as those of a Vec
	//lint:ignore U1000 it is there for its type
	of   [0]*T  // a Ring of another type does not convert to this one
	off  uint64 // bytes from the base of the space
	head uint32 // slot of the first element
	n    uint32 // elements
	cap  uint32 // slots
	_    uint32 // so that the size is the same in builds that align to 4 bytes
}

// maxRing is the most slots of a Ring.
const maxRing = 1 << 30

// Len returns the number of elements.
func (r *Ring[T]) Len() int { return int(r.n) }

// Cap returns the number of elements that fit in total without growth.
func (r *Ring[T]) Cap() int { return int(r.cap) }

// slot returns the address of element i, which may be the one behind the last or, as -1, before the first. For elements
// of no size it is that of the Space, as for a Vec.
func (r *Ring[T]) slot(sp *Space, i int) *T {
	if unsafe.Sizeof(*new(T)) == 0 {
		return (*T)(unsafe.Pointer(sp))
	}
	k := (r.head + uint32(i)) & (r.cap - 1)
	return (*T)(unsafe.Add(sp.at(r.off), uintptr(k)*unsafe.Sizeof(*new(T))))
}

// PushBack adds x after the last element. If the Ring is full and cannot grow, PushBack returns an error as
// [Vec.Append] does, and adds nothing.
func (r *Ring[T]) PushBack(sp *Space, x T) error {
	if r.n == r.cap {
		if err := r.more(sp); err != nil {
			return err
		}
	}
	*r.slot(sp, int(r.n)) = x
	r.n++
	return nil
}

// PushFront adds x before the first element. If the Ring is full and cannot grow, PushFront returns an error as
// [Vec.Append] does, and adds nothing.
func (r *Ring[T]) PushFront(sp *Space, x T) error {
	if r.n == r.cap {
		if err := r.more(sp); err != nil {
			return err
		}
	}
	*r.slot(sp, -1) = x
	r.head = (r.head - 1) & (r.cap - 1)
	r.n++
	return nil
}

// PopFront removes the first element and returns it and true. If the Ring is empty, PopFront returns the zero value
// and false.
func (r *Ring[T]) PopFront(sp *Space) (x T, ok bool) {
	if r.n == 0 {
		return x, false
	}
	x = *r.slot(sp, 0)
	r.head = (r.head + 1) & (r.cap - 1)
	r.n--
	return x, true
}

// PopBack removes the last element and returns it and true. If the Ring is empty, PopBack returns the zero value and
// false.
func (r *Ring[T]) PopBack(sp *Space) (x T, ok bool) {
	if r.n == 0 {
		return x, false
	}
	r.n--
	return *r.slot(sp, int(r.n)), true
}

// Front returns the first element and true, without removing it. If the Ring is empty, Front returns the zero value
// and false.
func (r *Ring[T]) Front(sp *Space) (x T, ok bool) {
	if r.n == 0 {
		return x, false
	}
	return *r.slot(sp, 0), true
}

// Back returns the last element and true, without removing it. If the Ring is empty, Back returns the zero value and
// false.
func (r *Ring[T]) Back(sp *Space) (x T, ok bool) {
	if r.n == 0 {
		return x, false
	}
	return *r.slot(sp, int(r.n)-1), true
}

// At returns a copy of element i. The first element is element 0. If i is out of range, At panics as a slice does.
func (r *Ring[T]) At(sp *Space, i int) T { return *r.Ptr(sp, i) }

// Set makes x element i. The first element is element 0. If i is out of range, Set panics as a slice does.
func (r *Ring[T]) Set(sp *Space, i int, x T) { *r.Ptr(sp, i) = x }

// Ptr returns the address of element i. The first element is element 0. The address is valid until the element is
// removed, until the Ring grows, shrinks or is freed, or until the allocator frees the block. If i is out of range,
// Ptr panics as a slice does.
func (r *Ring[T]) Ptr(sp *Space, i int) *T {
	sp.bound(i, r.n)
	return r.slot(sp, i)
}

// Slices returns the elements in order as two slices, for reading and writing. If the elements do not wrap round the
// end of the block, the second slice is empty. The slices keep their lengths when elements are added or removed. An
// element may be accessed until it is removed, until the Ring grows, shrinks or is freed, or until the allocator frees
// the block.
func (r *Ring[T]) Slices(sp *Space) (front, back []T) {
	first := min(r.n, r.cap-r.head)
	p := (*T)(unsafe.Pointer(sp)) // see slot
	if unsafe.Sizeof(*p) > 0 {
		p = (*T)(sp.at(r.off))
	}
	all := unsafe.Slice(p, int(max(r.head+first, r.n-first)))
	return all[r.head : r.head+first : r.head+first], all[: r.n-first : r.n-first]
}

// All returns an iterator over indices and elements, first to last. The loop may change the Ring. A step visits the
// element that has the next index at that time. So a PopFront in the loop makes the next step skip an element. The
// iteration ends when there is none.
func (r *Ring[T]) All(sp *Space) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i := 0; i < int(r.n); i++ {
			if !yield(i, *r.slot(sp, i)) {
				return
			}
		}
	}
}

// Values returns an iterator over the elements, first to last; see [Ring.All].
func (r *Ring[T]) Values(sp *Space) iter.Seq[T] {
	return func(yield func(T) bool) {
		for i := 0; i < int(r.n); i++ {
			if !yield(*r.slot(sp, i)) {
				return
			}
		}
	}
}

// Clear removes every element and keeps the memory.
func (r *Ring[T]) Clear() { r.head, r.n = 0, 0 }

// Free frees the memory and leaves the Ring empty and ready. Free panics as [Vec.Free] does.
func (r *Ring[T]) Free(sp *Space) {
	r.mustBeSound()
	was := *r
	r.Forget()
	sp.giveBack(was.off, uintptr(was.cap)*unsafe.Sizeof(*new(T)), func() { *r = was })
}

// mustBeSound panics if the header of the Ring was overwritten, as [Vec.mustBeSound].
func (r *Ring[T]) mustBeSound() {
	noBlock(r.cap&(r.cap-1) != 0 || r.cap > maxRing || r.n > r.cap || r.head >= max(r.cap, 1) ||
		r.off != 0 && (r.cap == 0 || unsafe.Sizeof(*new(T)) == 0), "Ring")
}

// Clone returns a copy of the Ring with its elements. The memory of the copy is from the Space `to`, which may be
// sp. The caller owns the copy. If Clone fails, it returns an empty Ring and an error as [Vec.Append] does.
func (r *Ring[T]) Clone(sp, to *Space) (c Ring[T], err error) {
	sp.at(r.off) // panics in debug builds if the space is closed, before there is a block
	done := false
	defer func() {
		if !done { // on an error, and also if the allocator panics
			c.Free(to)
		}
	}()
	for c.Cap() < r.Len() { // again: a function that the allocator has called may have made r grow
		if err := c.Reserve(to, r.Len()); err != nil {
			return c, err
		}
	}
	done = true
	if c.n = r.n; unsafe.Sizeof(*new(T)) > 0 && c.cap > 0 {
		front, back := r.Slices(sp)
		all := unsafe.Slice((*T)(to.at(c.off)), int(c.cap))
		copy(all[copy(all, front):], back)
	}
	return c, nil
}

// Forget leaves the Ring empty and ready without freeing the memory. Call Forget after the allocator was reset.
func (r *Ring[T]) Forget() { *r = Ring[T]{} }

// Reserve makes the Ring large enough for n more elements. The new capacity is a power of two. If Reserve fails, it
// returns an error as [Vec.Append] does, and nothing has changed. A negative n panics.
func (r *Ring[T]) Reserve(sp *Space, n int) error {
	if n < 0 {
		_ = make([]struct{}, 0)[:n]
	}
	if uint(n) > uint(maxRing-r.n) {
		return memory.ErrTooLarge
	}
	if need := int(r.n) + n; need > int(r.cap) {
		return r.grow(sp, ceilPow2(need))
	}
	return nil
}

// Shrink halves the capacity as long as the elements fit. Shrink copies the elements to a new block and frees the old
// block. If the new block cannot be allocated, Shrink returns the error, and nothing has changed. In an allocator that
// frees newest first (stack, arena.StepBack), freeing the old block panics with a *memory.Misuse, and nothing has
// changed. Shrink of an empty Ring is [Ring.Free]. Shrink does nothing if T has no size.
func (r *Ring[T]) Shrink(sp *Space) error {
	r.mustBeSound()
	size, al := unsafe.Sizeof(*new(T)), unsafe.Alignof(*new(T))
	switch slots := ceilPow2(int(r.n)); {
	case r.n == 0 && size > 0:
		r.Free(sp)
	case size > 0 && slots < int(r.cap):
		bytes := uintptr(slots) * size
		off, err := sp.alloc(bytes, al)
		if err != nil {
			return err
		}
		if int(r.n) > slots {
			sp.free(off, bytes)
			panic(added("Ring"))
		}
		was := *r
		r.settle(sp, off, uint32(slots))
		r.replace(sp, was)
	}
	return nil
}

// settle moves the elements, which must fit, to the front of another block.
func (r *Ring[T]) settle(sp *Space, off uint64, slots uint32) {
	front, back := r.Slices(sp)
	to := unsafe.Slice((*T)(sp.at(off)), int(slots))
	copy(to[copy(to, front):], back)
	r.off, r.head, r.cap = off, 0, slots
}

// replace frees the block that the Ring had.
func (r *Ring[T]) replace(sp *Space, was Ring[T]) {
	size, off := unsafe.Sizeof(*new(T)), r.off
	sp.replace(was.off, uintptr(was.cap)*size, off, uintptr(r.cap)*size, func() bool {
		if r.n > was.cap {
			return false
		}
		r.settle(sp, was.off, was.cap)
		return true
	})
}

//go:noinline
func (r *Ring[T]) more(sp *Space) error {
	if r.cap == maxRing {
		return memory.ErrTooLarge
	}
	return r.grow(sp, max(2*int(r.cap), ceilPow2(int(firstBytes/max(unsafe.Sizeof(*new(T)), firstBytes/4)))))
}

// grow changes the number of slots to a larger power of two. Elements that wrapped round the end of the old block then
// lie behind it.
func (r *Ring[T]) grow(sp *Space, slots int) error {
	if err := memory.PointerFree[T](); err != nil {
		return err
	}
	r.mustBeSound()
	size := unsafe.Sizeof(*new(T))
	if size == 0 {
		r.cap = maxRing
		return nil
	}
	bytes, err := bytesOf(slots, size)
	if err != nil {
		return err
	}
	off, err := sp.grow(r.off, uintptr(r.cap)*size, bytes, unsafe.Alignof(*new(T)))
	if err != nil {
		return err
	}
	if over := int(r.head+r.n) - int(r.cap); over > 0 {
		all := unsafe.Slice((*T)(sp.at(off)), slots)
		copy(all[r.cap:], all[:over])
	}
	was := *r
	if r.off, r.cap = off, uint32(slots); was.cap > 0 && was.off != off {
		r.replace(sp, was)
	}
	return nil
}

// Check verifies the metadata and returns the errors, or nil. The rules are those of [Vec.Check].
func (r *Ring[T]) Check(sp *Space) error {
	rep := report{findings.List{Of: "container: Ring"}}
	size := unsafe.Sizeof(*new(T))
	switch {
	case r.cap&(r.cap-1) != 0 || r.cap > maxRing:
		rep.Add("%d slots: want 0 or a power of two up to %d", r.cap, maxRing)
	case r.n > r.cap:
		rep.Add("%d elements in %d slots", r.n, r.cap)
	case r.cap == 0 || size == 0:
		if r.off != 0 || r.cap%maxRing != 0 {
			rep.Add("offset %d and %d slots, but there is no block", r.off, r.cap)
		}
	case byValue[T](&rep):
		rep.block(sp, "elements", r.off, uint64(r.cap), size, unsafe.Alignof(*new(T)))
	}
	if r.head >= max(r.cap, 1) {
		rep.Add("the first element is in slot %d of %d", r.head, r.cap)
	}
	return rep.Err()
}

// ceilPow2 returns the smallest power of two that is at least n; 1 for 0.
func ceilPow2(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }
