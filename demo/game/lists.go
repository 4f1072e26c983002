package game

import (
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
)

// A list is some values of a pointer-free type in one block of an allocator's, which grows by half
// as it fills. The zero list is empty and has no allocator.
type list[T any] struct {
	a memory.Allocator
	v []T // its capacity is the block's
}

// push adds a value; false where there is no room for it.
func (l *list[T]) push(v T) bool {
	if len(l.v) == cap(l.v) {
		grown, err := memory.MakeSlice[T](l.a, max(4, cap(l.v)+cap(l.v)/2))
		if err != nil {
			return false
		}
		n := copy(grown, l.v)
		l.release()
		l.v = grown[:n]
	}
	l.v = append(l.v, v)
	return true
}

// drop removes the i-th value: the last takes its place.
func (l *list[T]) drop(i int) {
	last := len(l.v) - 1
	l.v[i] = l.v[last]
	l.v = l.v[:last]
}

// release gives the block back.
func (l *list[T]) release() {
	if cap(l.v) > 0 {
		memory.FreeSlice(l.a, l.v[:cap(l.v)])
	}
	l.v = nil
}

func hashVecs(h *engine.Hasher, vs []vec) {
	h.Int(len(vs))
	for _, v := range vs {
		h.Vec2(v)
	}
}
