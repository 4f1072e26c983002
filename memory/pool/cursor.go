package pool

import (
	"math/bits"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A Cursor walks the live objects of a pool in order of address, without callbacks:
//
//	for c := enemies.Cursor(); c.Next(); {
//		c.Value().Update()
//	}
//
// It is a value on the stack, to be had from a pool. Objects may be freed on the way and are
// then not visited; one that is made is visited or not. Slots are visited upwards and once, so
// a walk ends whatever is made and freed meanwhile. A Reset leaves it nothing to visit, a Close
// ends it.
type Cursor[T any] struct {
	// Four words, the most that the compiler keeps in registers.
	slots *slots
	base  *T     // typed, so that a Cursor of another type does not convert to this one
	slot  uint   // the current one
	rest  uint64 // the live bits of its word that were not visited yet
}

// Next steps to the next live object and reports whether there is one.
func (c *Cursor[T]) Next() bool {
	live, w := c.slots.live, c.slot>>6
	if w >= uint(len(live)) {
		return false // the pool is empty, or closed
	}
	c.rest &= live[w] // without what was freed meanwhile
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

// Value returns the current object: what Next has found, and garbage before. It is a pointer
// like any other: good until the object ends, and not looked at.
func (c *Cursor[T]) Value() *T {
	return (*T)(unsafe.Add(unsafe.Pointer(c.base), uintptr(c.slot)*unsafe.Sizeof(*new(T))))
}

// Handle returns the current object's handle, a stale one when the object has been freed, and
// the zero Handle when the pool is closed.
func (c *Cursor[T]) Handle() memory.Handle[T] {
	s := c.slots
	if c.slot >= uint(len(s.gens)) {
		return memory.Handle[T]{}
	}
	return memory.MakeHandle[T](uint32(c.slot), s.gens[c.slot]^s.key)
}
