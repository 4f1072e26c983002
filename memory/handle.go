package memory

import "fmt"

// A Handle is a generational index: a slot of a pool, and the generation of the object in it. A Handle has 8 bytes
// and no pointer. It may be stored off-heap, copied, compared and sent to any goroutine. If the object is freed, the
// handle is stale: looking up a stale handle returns false.
//
// The generation of a slot is odd while the slot is in use and even while it is vacant, so the zero Handle is never
// valid. When the 32-bit generations of a slot are used up, the slot is retired; its handles stay stale. Two objects
// of one pool have equal handles only if a saved state was loaded in between. If a handle is passed to another pool,
// it is stale in most cases: the comment of the pool's type names the exceptions.
type Handle[T any] struct {
	//lint:ignore U1000 it is there for its type
	of    [0]*T // a Handle of another type does not convert to this one; last, it would add bytes
	index uint32
	gen   uint32
}

// MakeHandle returns the handle of a slot with a generation, for implementers of pools. It checks neither number. The
// numbers are valid in the present process only. In another process, a handle that is made from them may be stale or
// name another object. Package save converts Handles in a file, but not stored numbers.
func MakeHandle[T any](index, generation uint32) Handle[T] {
	return Handle[T]{index: index, gen: generation}
}

// Index returns the number of the slot in its pool.
func (h Handle[T]) Index() uint32 { return h.index }

// Generation returns the generation of the object. It is odd in every handle of an object, and 0 in the zero Handle.
func (h Handle[T]) Generation() uint32 { return h.gen }

// IsZero reports whether h is the zero Handle, which is never valid.
func (h Handle[T]) IsZero() bool { return h == Handle[T]{} }

// String returns the slot and the generation, as "#12.7".
func (h Handle[T]) String() string { return fmt.Sprintf("#%d.%d", h.index, h.gen) }
