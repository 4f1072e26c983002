package pool

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// worn is the generation at which a slot is retired: one more life would bring the handles
// of its first one back to life.
const worn = 1<<32 - 2

// serials counts the pools with handles that this process has made.
var serials atomic.Uint32

// newKey draws what a pool folds into the generations of its handles, so that those of another
// pool are stale in it. Serials differ in their low bits; reversed, keys differ in the high
// bits of a generation, which a slot reaches late. Bit 0 stays clear: odd is odd in a handle.
func newKey() uint32 { return bits.Reverse32(serials.Add(1)-1) &^ 1 }

// slots is the books of numbered slots with generations: what Pool and Split share. It knows
// neither type nor memory.
//
//	gens  | 3 | 1 | 6 | 5 | 0 |     odd lives, even is vacant, worn is retired
//	live  | 1   1   0   1   0 |     the same in bits, for iteration
//	free  | 4 | 2 |                 the vacant ones, the next one last
//
// A handle carries gens[i] ^ key. The books do not, so that they are the same in every run.
//
// Invariants, verified by check in this order:
//
//	(1) n + retired <= carved <= len(gens) == len(free) <= capacity; carved, peak and soiled
//	    are at most capacity, which the reservation holds; key is even
//	(2) the live bit of a slot is set exactly where its generation is odd
//	(3) from carved on no generation is odd
//	(4) free[:n] are distinct carved slots that are neither live nor retired
//	(5) retired counts the worn slots below carved; n + retired + live == carved
//	(6) the lives of all slots, half their generations rounded up, sum to allocs
//	(7) in debug builds, what is on the stack holds poison
//	(8) closed books hold no slot
type slots struct {
	key    uint32
	gens   []uint32
	free   []uint32
	live   []uint64
	n      uint   // vacant slots on the stack
	allocs uint64 // lives begun since New

	carved   uint // slots that are live, on the stack or retired
	retired  uint
	capacity uint // 0 once closed
	peak     uint // the highest carved that a trim forgot
	soiled   uint // slots from carved up to there were carved before; what is committed of them holds poison
	failures uint64
}

// A ground is the memory of the slots, for what is too rare to be inlined.
type ground interface {
	// ensure commits memory for the first n slots or changes nothing.
	ensure(n uint) error
	// soil poisons the slots from i to end.
	soil(i, end uint)
	// damage says what was written to slot i since it was poisoned, and where; "" if nothing.
	damage(i uint) (at unsafe.Pointer, what string)
}

// take pops a vacant slot and begins its next life; ok is false when there is none.
func (s *slots) take() (i, gen uint32, ok bool) {
	n := s.n - 1
	if n >= uint(len(s.free)) {
		return 0, 0, false
	}
	i = s.free[n]
	gen = s.gens[i] + 1
	s.gens[i] = gen
	s.live[i>>6] |= 1 << (i & 63)
	s.n = n
	s.allocs++
	return i, gen, true
}

// has reports whether the slot lives in that very generation. A generation that is even
// matches no live slot, and must not match a vacant one.
func (s *slots) has(i, gen uint32) bool {
	return uint(i) < uint(len(s.gens)) && s.gens[i] == gen && gen&1 != 0
}

// drop ends the life of a slot that has(i, gen).
func (s *slots) drop(i, gen uint32) {
	s.live[i>>6] &^= 1 << (i & 63)
	gen++
	s.gens[i] = gen
	if gen == worn {
		s.retired++
		return
	}
	s.free[s.n] = i
	s.n++
}

// count returns how many slots live.
func (s *slots) count() uint { return s.carved - s.n - s.retired }

// refill makes at least one slot vacant. size is the bytes of a slot in all its parts.
func (s *slots) refill(size uintptr, g ground) error {
	for s.n == 0 { // again when every slot of a batch is retired
		if s.capacity == 0 {
			return memory.ErrClosed
		}
		k := min(max(uint(batchBytes/size), 1), batchSlots, s.capacity-s.carved)
		if k == 0 {
			s.failures++
			return memory.ErrOutOfMemory
		}
		err := s.room(s.carved+k, g)
		if err != nil && k > 1 {
			k = 1
			err = s.room(s.carved+1, g)
		}
		if err != nil {
			s.failures++
			return err
		}
		s.carve(k, g)
	}
	return nil
}

// grow prepares memory and books for n slots, and carves none: Peak stays honest.
func (s *slots) grow(n int, g ground) error {
	if s.capacity == 0 {
		return memory.ErrClosed
	}
	if n < 0 || uint(n) > s.capacity {
		s.failures++
		return memory.ErrTooLarge
	}
	if err := s.room(uint(n), g); err != nil {
		s.failures++
		return err
	}
	return nil
}

// room commits memory for the first n slots and grows the metadata to hold them; free has space
// for every slot, so that drop never grows it. The Go heap is asked first, so that on error nothing
// is committed.
func (s *slots) room(n uint, g ground) error {
	entries := uint(0) // of the metadata; 0: as many as now
	if n > uint(len(s.gens)) {
		entries = max(n, min(2*uint(len(s.gens)), s.capacity))
		err := page.ProbeHeap(uintptr(entries) * slotBooks)
		if err != nil && entries > n {
			entries = n
			err = page.ProbeHeap(uintptr(entries) * slotBooks)
		}
		if err != nil {
			return err
		}
	}
	if err := g.ensure(n); err != nil || entries == 0 {
		return err
	}
	s.gens = extend(s.gens, uintptr(entries))
	s.free = extend(s.free, uintptr(entries))
	s.live = extend(s.live, uintptr(entries+63)>>6)
	return nil
}

// slotBooks is the bytes that room takes for a slot: generation, entry of the stack, live bit.
const slotBooks = 9

// carve makes the next k slots vacant, the lowest on top. A slot that was trimmed keeps its
// generation, so that its handles stay stale, and its retirement.
func (s *slots) carve(k uint, g ground) {
	end := s.carved + k
	if invariant.Debug {
		known := max(s.carved, min(end, s.soiled))
		for i := s.carved; i < known; i++ {
			verify(i, g)
		}
		g.soil(known, end)
	}
	for i := end; i > s.carved; i-- {
		if s.gens[i-1] == worn {
			s.retired++
			continue
		}
		s.free[s.n] = uint32(i - 1)
		s.n++
	}
	s.carved = end
}

// reset ends every life, from the last slot to the first, so that the lowest is used next.
func (s *slots) reset() {
	for w := len(s.live) - 1; w >= 0; w-- {
		for word := s.live[w]; word != 0; {
			bit := uint(bits.Len64(word) - 1)
			word &^= 1 << bit
			i := uint32(uint(w)<<6 | bit)
			s.drop(i, s.gens[i])
		}
	}
}

// last returns the number of slots up to the last live one.
func (s *slots) last() uint {
	for w := len(s.live) - 1; w >= 0; w-- {
		if word := s.live[w]; word != 0 {
			return uint(w<<6 + bits.Len64(word))
		}
	}
	return 0
}

// first returns the live bits of the first word, where a Cursor starts.
func (s *slots) first() uint64 {
	if len(s.live) == 0 {
		return 0
	}
	return s.live[0]
}

// trim forgets the slots from carved on, which are not live, and sorts the stack.
func (s *slots) trim(carved uint) {
	s.peak, s.soiled = max(s.peak, s.carved), max(s.soiled, s.carved)
	s.carved, s.n, s.retired = carved, 0, 0
	for i := carved; i > 0; i-- {
		switch gen := s.gens[i-1]; {
		case gen == worn:
			s.retired++
		case gen&1 == 0:
			s.free[s.n] = uint32(i - 1)
			s.n++
		}
	}
}

// close drops the books: every handle is stale, nothing is vacant.
func (s *slots) close() {
	s.peak = max(s.peak, s.carved)
	s.gens, s.free, s.live = nil, nil, nil
	s.n, s.carved, s.retired, s.capacity, s.soiled = 0, 0, 0, 0, 0
}

// stats derives the books of slots of size bytes.
func (s *slots) stats(size uintptr) memory.Stats {
	live := uint64(s.count())
	return memory.Stats{
		InUse: live * uint64(size), Peak: uint64(max(s.peak, s.carved)) * uint64(size),
		Live: live, Allocs: s.allocs, Frees: s.allocs - live, Failures: s.failures,
	}
}
