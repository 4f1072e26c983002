package pool

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/strata-go/strata/memory"
)

// worn is the generation at which a slot is retired: one more life would bring the handles
// of its first one back to life.
const worn = 1<<32 - 2

// slots is the books of numbered slots with generations: what Pool and Split share. It knows
// neither type nor memory.
//
//	gens  | 3 | 1 | 6 | 5 | 0 |     odd lives, even is vacant, worn is retired
//	live  | 1   1   0   1   0 |     the same in bits, for iteration
//	free  | 4 | 2 |                 the vacant ones, the next one last
//
// Invariants, verified by check in this order:
//
//	(1) n + retired <= carved <= len(gens) == len(free) <= capacity
//	(2) the live bit of a slot is set exactly where its generation is odd
//	(3) from carved on no generation is odd
//	(4) free[:n] are distinct carved slots that are neither live nor retired
//	(5) retired counts the worn slots below carved; n + retired + live == carved
//	(6) live <= allocs
type slots struct {
	gens   []uint32
	free   []uint32
	live   []uint64
	n      uint   // vacant slots on the stack
	allocs uint64 // lives begun since New

	carved   uint // slots that are live, on the stack or retired
	retired  uint
	capacity uint // 0 once closed
	peak     uint // the highest carved that a trim forgot
	failures uint64
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

// refill makes at least one slot vacant. size is the bytes of a slot in all its parts, and
// ensure commits memory for the first n slots or changes nothing.
func (s *slots) refill(size uintptr, ensure func(n uint) error) error {
	for s.n == 0 { // again when every slot of a batch is retired
		if s.capacity == 0 {
			return memory.ErrClosed
		}
		k := min(max(uint(batchBytes/size), 1), batchSlots, s.capacity-s.carved)
		if k == 0 {
			s.failures++
			return memory.ErrOutOfMemory
		}
		err := ensure(s.carved + k)
		if err != nil && k > 1 {
			k = 1
			err = ensure(s.carved + 1)
		}
		if err != nil {
			s.failures++
			return err
		}
		s.carve(k)
	}
	return nil
}

// grow prepares memory and books for n slots, and carves none: Peak stays honest.
func (s *slots) grow(n int, ensure func(n uint) error) error {
	if s.capacity == 0 {
		return memory.ErrClosed
	}
	if n < 0 || uint(n) > s.capacity {
		s.failures++
		return memory.ErrTooLarge
	}
	if err := ensure(uint(n)); err != nil {
		s.failures++
		return err
	}
	s.makeRoom(uint(n))
	return nil
}

// carve makes the next k slots vacant, the lowest on top. A slot that was trimmed keeps its
// generation, so that its handles stay stale, and its retirement.
func (s *slots) carve(k uint) {
	s.makeRoom(s.carved + k)
	for i := s.carved + k; i > s.carved; i-- {
		if s.gens[i-1] == worn {
			s.retired++
			continue
		}
		s.free[s.n] = uint32(i - 1)
		s.n++
	}
	s.carved += k
}

// makeRoom grows the books; free has room for every slot, so that drop never grows it.
func (s *slots) makeRoom(n uint) {
	s.gens = extend(s.gens, uintptr(n), uintptr(s.capacity))
	s.free = extend(s.free, uintptr(n), uintptr(s.capacity))
	s.live = extend(s.live, uintptr(n+63)>>6, uintptr(s.capacity+63)>>6)
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
	s.peak = max(s.peak, s.carved)
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
	s.n, s.carved, s.retired, s.capacity = 0, 0, 0, 0
}

// stats derives the books of slots of size bytes.
func (s *slots) stats(size uintptr) memory.Stats {
	live := uint64(s.count())
	return memory.Stats{
		InUse: live * uint64(size), Peak: uint64(max(s.peak, s.carved)) * uint64(size),
		Live: live, Allocs: s.allocs, Frees: s.allocs - live, Failures: s.failures,
	}
}

// check verifies the equations above the type.
func (s *slots) check() error {
	if s.n+s.retired > s.carved || s.carved > uint(len(s.gens)) || len(s.gens) != len(s.free) ||
		uint(len(s.gens)) > s.capacity || len(s.live) < (len(s.gens)+63)>>6 {
		return fmt.Errorf("pool: %d vacant, %d retired, %d carved, %d generations, room for %d, %d words of bits, capacity %d are not in order",
			s.n, s.retired, s.carved, len(s.gens), len(s.free), len(s.live), s.capacity)
	}
	errs, live, retired := s.checkGenerations()
	seen := make([]uint64, len(s.live))
	for at, i := range s.free[:s.n] {
		switch {
		case uint(i) >= s.carved:
			errs = append(errs, fmt.Errorf("pool: free[%d] is slot %d of %d carved", at, i, s.carved))
		case s.gens[i]&1 != 0 || s.gens[i] == worn:
			errs = append(errs, fmt.Errorf("pool: free[%d] is slot %d, which has generation %d", at, i, s.gens[i]))
		case seen[i>>6]>>(i&63)&1 != 0:
			errs = append(errs, fmt.Errorf("pool: slot %d is vacant twice", i))
		default:
			seen[i>>6] |= 1 << (i & 63)
		}
	}
	if retired != s.retired || s.n+retired+live != s.carved {
		errs = append(errs, fmt.Errorf("pool: %d carved slots are not %d vacant, %d live and %d retired (%d counted)",
			s.carved, s.n, live, retired, s.retired))
	}
	if uint64(live) > s.allocs {
		errs = append(errs, fmt.Errorf("pool: %d slots live of %d lives begun", live, s.allocs))
	}
	return errors.Join(errs...)
}

func (s *slots) checkGenerations() (errs []error, live, retired uint) {
	for w, word := range s.live {
		for bit := range uint(64) {
			i := uint(w)<<6 | bit
			odd := i < uint(len(s.gens)) && s.gens[i]&1 != 0
			switch {
			case odd != (word>>bit&1 != 0):
				errs = append(errs, fmt.Errorf("pool: the live bit of slot %d differs from its generation", i))
			case odd && i >= s.carved:
				errs = append(errs, fmt.Errorf("pool: slot %d is live, and only %d are carved", i, s.carved))
			case odd:
				live++
			case i < s.carved && s.gens[i] == worn:
				retired++
			}
		}
	}
	return errs, live, retired
}
