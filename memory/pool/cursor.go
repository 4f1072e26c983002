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
// It is a value on the stack. Objects may be freed on the way and are then not visited; one
// that is made is visited or not. A Reset ends the walk; no cursor outlives a Close.
type Cursor[T any] struct {
	// Four words, the most that the compiler keeps in registers.
	slots *slots
	base  unsafe.Pointer
	slot  uint   // the current one
	rest  uint64 // the live bits of its word that were not visited yet
}

// Next steps to the next live object and reports whether there is one.
func (c *Cursor[T]) Next() bool {
	live, w := c.slots.live, c.slot>>6
	if w < uint(len(live)) {
		c.rest &= live[w] // without what was freed meanwhile
	}
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

// Value returns the current object.
func (c *Cursor[T]) Value() *T {
	return (*T)(unsafe.Add(c.base, uintptr(c.slot)*unsafe.Sizeof(*new(T))))
}

// Handle returns the current object's handle.
func (c *Cursor[T]) Handle() memory.Handle[T] {
	return memory.MakeHandle[T](uint32(c.slot), c.slots.gens[c.slot])
}
