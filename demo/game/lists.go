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

// slots are records that enemies refer to by number, up to a fixed count.
//
// Invariant: the numbers below len(all) are in free, the newest last, or in use by live enemies.
type slots[T any] struct {
	all  []T
	free []uint16
	live int
}

// take returns an unused number; false if most are in use.
func (s *slots[T]) take(most int) (i uint16, ok bool) {
	if s.all == nil {
		s.all, s.free = make([]T, 0, most), make([]uint16, 0, most)
	}
	i = uint16(len(s.all))
	if k := len(s.free); k > 0 {
		i, s.free = s.free[k-1], s.free[:k-1]
	} else if int(i) == most {
		return 0, false
	} else {
		s.all = s.all[:i+1]
	}
	s.live++
	return i, true
}

// give returns a number, whose record is zero then.
func (s *slots[T]) give(i uint16) {
	s.all[i] = *new(T)
	s.free = append(s.free, i)
	s.live--
}

func (s *slots[T]) reset() { s.all, s.free, s.live = s.all[:0], s.free[:0], 0 }

// hash adds the order in which numbers will be taken.
func (s *slots[T]) hash(h *engine.Hasher) {
	h.Int(len(s.free))
	for _, i := range s.free {
		h.Int(int(i))
	}
}
