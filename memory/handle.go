package memory

import "fmt"

// A Handle names a slot of a pool together with the generation that lived there when it
// was made. It is 8 bytes, holds no pointer, may be stored off-heap, copied, compared and
// sent anywhere. A handle whose object is gone is stale: looking it up yields ok == false.
//
// Generations are odd while a slot lives and even while it is vacant, so the zero Handle
// is never valid. A slot whose 32-bit generation is worn out is retired and never aliased.
// A pool may fold an even number of its own into those that it gives out, so that the handles
// of another pool are stale in it: they are odd all the same, and no two of one slot are equal.
type Handle[T any] struct {
	//lint:ignore U1000 it is there for its type
	of    [0]*T // a Handle of another type does not convert to this one; last, it would add bytes
	index uint32
	gen   uint32
}

// MakeHandle builds a handle from its parts. It is for implementers of pools.
func MakeHandle[T any](index, generation uint32) Handle[T] {
	return Handle[T]{index: index, gen: generation}
}

// Index returns the slot number.
func (h Handle[T]) Index() uint32 { return h.index }

// Generation returns the generation; odd in every handle that was ever valid.
func (h Handle[T]) Generation() uint32 { return h.gen }

// IsZero reports whether h is the zero Handle, which names nothing.
func (h Handle[T]) IsZero() bool { return h == Handle[T]{} }

// String prints slot and generation, as "#12.7".
func (h Handle[T]) String() string { return fmt.Sprintf("#%d.%d", h.index, h.gen) }
