package container

import (
	"iter"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

const (
	// firstBytes is the least that the first growth allocates: a cache line.
	firstBytes = 64
	// doubleBytes is the size up to which the capacity doubles. Larger ones grow by half, so that a level's
	// largest array does not take twice the memory that it needs.
	doubleBytes = 1 << 20
)

// Reserve makes the Vec large enough for n more elements. If Reserve must grow the Vec, the new capacity is Len plus
// n, or 2^31-1 if T has no size. If Reserve fails, it returns an error as Append does, and nothing has changed. A
// negative n panics. If the allocator cannot grow the block in place, a Reserve of 1 before each Append copies the
// Vec each time.
func (v *Vec[T]) Reserve(sp *Space, n int) error {
	if n < 0 {
		_ = make([]struct{}, 0)[:n]
	}
	if uint(n) > uint(maxCount-v.n) {
		return memory.ErrTooLarge
	}
	if need := int(v.n) + n; need > int(v.cap) {
		return v.move(sp, need)
	}
	return nil
}

// Shrink reduces the capacity to the length. If the allocator cannot shrink the block in place, Shrink copies the
// elements to a new block and frees the old block. If the new block cannot be allocated, Shrink returns the error, and
// nothing has changed. Shrink of an empty Vec is [Vec.Free]. Shrink does nothing if T has no size.
func (v *Vec[T]) Shrink(sp *Space) error {
	switch {
	case v.n == v.cap || unsafe.Sizeof(*new(T)) == 0:
		return nil
	case v.n == 0:
		v.Free(sp)
		return nil
	}
	return v.move(sp, int(v.n))
}

// more makes the Vec large enough for n more elements, and for some later ones if the memory is available.
func (v *Vec[T]) more(sp *Space, n int) error {
	if uint(n) > uint(maxCount-v.n) {
		return memory.ErrTooLarge
	}
	need := int(v.n) + n
	if need <= int(v.cap) {
		return nil
	}
	ahead := max(need, nextCap(int(v.cap), unsafe.Sizeof(*new(T))))
	err := v.move(sp, ahead)
	for err != nil && ahead > need { // a quarter each time: to take one at a time copies all for each
		ahead = need + (ahead-need)/4
		err = v.move(sp, ahead)
	}
	return err
}

// nextCap returns the capacity that follows on n elements of so many bytes.
func nextCap(n int, size uintptr) int {
	switch {
	case n == 0:
		return int(max(firstBytes/max(size, 1), 1))
	case uintptr(n)*size < doubleBytes && n <= maxCount/2:
		return 2 * n
	}
	return n + min(n/2, maxCount-n)
}

// move changes the capacity to n. Meanwhile there is no room: who is told of it may remove
// elements, and an Append out of there meets the Space at work.
func (v *Vec[T]) move(sp *Space, n int) error {
	if err := memory.PointerFree[T](); err != nil {
		return err
	}
	v.mustBeSound()
	size := unsafe.Sizeof(*new(T))
	if size == 0 {
		v.cap = maxCount
		return nil
	}
	bytes, err := bytesOf(n, size)
	if err != nil {
		return err
	}
	off, room := v.off, v.cap
	if v.cap = v.n; v.n == 0 {
		v.off = 0
	}
	defer func() { v.off, v.cap = off, room }() // also where the allocator panics
	old := uintptr(room) * size
	moved, err := sp.grow(off, old, bytes, unsafe.Alignof(*new(T)))
	if err != nil {
		return err
	}
	if old > 0 && moved != off {
		if v.cap > 0 {
			v.off = moved
		}
		sp.replace(off, old, moved, bytes, func() bool { sp.copy(off, moved, min(old, bytes)); return true })
	}
	off, room = moved, uint32(n)
	return nil
}

// All returns an iterator over indices and elements, first to last. The loop may change the Vec. Each step visits the
// element that has the next index at that time. The iteration ends when there is none.
func (v *Vec[T]) All(sp *Space) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i := 0; i < int(v.n); i++ {
			if !yield(i, *v.slot(sp, i)) {
				return
			}
		}
	}
}

// Values returns an iterator over the elements, first to last; see [Vec.All].
func (v *Vec[T]) Values(sp *Space) iter.Seq[T] {
	return func(yield func(T) bool) {
		for i := 0; i < int(v.n); i++ {
			if !yield(*v.slot(sp, i)) {
				return
			}
		}
	}
}

// Backward returns an iterator over indices and elements, last to first. The loop may remove the current element,
// also by SwapRemove. Elements that are added after the current element are not visited.
func (v *Vec[T]) Backward(sp *Space) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i := int(v.n) - 1; i >= 0; i-- {
			if i < int(v.n) && !yield(i, *v.slot(sp, i)) {
				return
			}
		}
	}
}
