package pool

import (
	"iter"
	"math/bits"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// Runs returns an iterator over the live objects as slices of up to 64 neighbours, in the order of their addresses. It
// is the fastest loop over a pool with few vacant slots:
//
//	for run := range sprites.Runs() {
//		for i := range run {
//			if s := &run[i]; s.step() {
//				sprites.Free(sprites.HandleOf(s))
//			}
//		}
//	}
//
// The loop may change the pool. The slice of the current run stays the same, so the loop may free only the current
// object of this run and those before it. Objects of later runs that the loop frees are left out. An object that the
// loop makes may be in a later run or in none. Each slot is in at most one run.
//
// After a Reset, a Close or the load of a state, the inner loop must end. After Close of the pool there is no further
// run. If half of the slots are vacant, [Pool.All] is as fast, and beyond that faster.
func (p *Pool[T]) Runs() iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for first, word := range meta(&p.slots).runs {
			at, n := lowest(word)
			if !yield(unsafe.Slice(p.at(first+at), n)) {
				return
			}
		}
	}
}

// HandleOf returns the handle of the live object v. If v is no pointer to a live object of the pool, or T has no bytes,
// HandleOf returns the zero Handle. Cost: a division by the size of T.
func (p *Pool[T]) HandleOf(v *T) (h memory.Handle[T]) {
	i, gen, ok := meta(&p.slots).liveAt(uintptr(unsafe.Pointer(v))-uintptr(p.base), unsafe.Sizeof(*v))
	if ok {
		h = memory.MakeHandle[T](i, gen^p.key)
	}
	return h
}

// Runs returns an iterator over the hot parts of neighbouring live objects, as [Pool.Runs].
func (p *Split[Hot, Cold]) Runs() iter.Seq[[]Hot] {
	return func(yield func([]Hot) bool) {
		for first, word := range meta(&p.slots).runs {
			at, n := lowest(word)
			h, _ := p.at(uint32(first + at))
			if !yield(unsafe.Slice(h, n)) {
				return
			}
		}
	}
}

// HandleOf returns the handle of the live object whose hot part is v, as [Pool.HandleOf].
func (p *Split[Hot, Cold]) HandleOf(v *Hot) (h memory.Handle[Hot]) {
	i, gen, ok := meta(&p.slots).liveAt(uintptr(unsafe.Pointer(v))-uintptr(p.hotBase), unsafe.Sizeof(*v))
	if ok {
		h = memory.MakeHandle[Hot](i, gen^p.key)
	}
	return h
}

// each yields the live slots, upwards. The body may change the pool: slots that it makes vacant are not visited later.
func (s *metadata) each(yield func(uint) bool) {
	for w := uint(0); w < uint(len(s.live)); w++ {
		for rest := s.live[w]; rest != 0; rest &= s.live[w] {
			if !yield(w<<6|uint(bits.TrailingZeros64(rest))) || w >= uint(len(s.live)) { // closed
				return
			}
			rest &= rest - 1
		}
	}
}

// runs yields a word for each run of live slots: its lowest ones, bit 0 of which is slot first. The body may change the
// pool as that of each.
func (s *metadata) runs(yield func(first uint, word uint64) bool) {
	for w := uint(0); w < uint(len(s.live)); w++ {
		for word := s.live[w]; word != 0; word &= s.live[w] {
			if !yield(w<<6, word) || w >= uint(len(s.live)) { // closed
				return
			}
			word &= word + word&-word // without its lowest ones: the sum carries beyond them
		}
	}
}

// lowest returns the place and the number of the lowest neighbouring ones of word, which is not 0.
func lowest(word uint64) (at, n uint) {
	at = uint(bits.TrailingZeros64(word))
	return at, uint(bits.TrailingZeros64(^(word >> at)))
}

// liveAt returns the slot at off, which has size bytes, and its generation if it is live. If no live slot starts there,
// ok is false.
func (s *metadata) liveAt(off, size uintptr) (i, gen uint32, ok bool) {
	if size == 0 || off%size != 0 || off/size >= uintptr(len(s.gens)) {
		return 0, 0, false
	}
	i = uint32(off / size)
	return i, s.gens[i], s.gens[i]&1 != 0
}
