package pool

import (
	"math/bits"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A Cursor iterates over the live objects of a pool, in the order of their addresses, without callbacks:
//
//	for c := enemies.Cursor(); c.Next(); {
//		c.Value().Update()
//	}
//
// [Pool.Cursor] and [Split.Cursor] return a Cursor. The loop may change the pool. An object that the loop frees is not
// visited afterwards. An object that is made after the call of Cursor may be visited or not. Each slot is visited at
// most once, so the loop ends. After Close of the pool, and after its page source has ended, Next returns false. After
// a Reset, the loop visits no object that was made before the Reset.
type Cursor[T any] struct {
	// Four words, the most that the compiler keeps in registers.
	slots *slots
	base  *T     // typed, so that a Cursor of another type does not convert to this one
	slot  uint   // the current one
	rest  uint64 // the live bits of its word that are not visited yet
}

// Next moves to the next live object and returns true. If there is no further object, or the pool is closed, Next
// returns false.
func (c *Cursor[T]) Next() bool {
	live, w := c.slots.live, c.slot>>6
	if w >= uint(len(live)) {
		return false // the pool is empty, or closed
	}
	c.rest &= live[w] // without objects that were freed since
	for c.rest == 0 {
		w++
		if w >= uint(len(live)) {
			return false
		}
		c.rest = live[w]
	}
	c.slot = w<<6 | uint(bits.TrailingZeros64(c.rest))
	c.rest &= c.rest - 1
	return true
}

// Value returns the object that Next moved to. Value may be called only after Next has returned true. The pointer is
// valid until the object is freed or the pool is closed; Value does not check this.
func (c *Cursor[T]) Value() *T {
	return (*T)(unsafe.Add(unsafe.Pointer(c.base), uintptr(c.slot)*unsafe.Sizeof(*new(T))))
}

// Handle returns the handle of the object that Next moved to. Handle may be called only after Next has returned true.
// If the object was freed, Handle returns a stale handle, or the handle of a newer object in this slot. If the pool
// is closed, Handle returns the zero Handle.
func (c *Cursor[T]) Handle() memory.Handle[T] {
	s := c.slots
	if c.slot >= uint(len(s.gens)) {
		return memory.Handle[T]{}
	}
	return memory.MakeHandle[T](uint32(c.slot), s.gens[c.slot]^s.key)
}
