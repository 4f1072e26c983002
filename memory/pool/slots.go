package pool

import (
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/save"
)

// worn is the generation at which a slot is retired: after another reuse the handles of its first object would be valid
// again.
const worn = 1<<32 - 2

// serials counts the pools with handles of this process.
var serials atomic.Uint32

// newKey returns the key that changes the generations of a pool's handles, so that handles of other pools are stale in
// it. Serials differ in their low bits. Reversed, keys differ in the high bits of a generation, which a slot reaches
// late. Bit 0 stays clear: an odd generation is odd in a handle.
func newKey() uint32 { return bits.Reverse32(serials.Add(1)-1) &^ 1 }

// slots is the metadata of numbered slots with generations, for Pool and Split. It depends neither on a type nor on
// memory.
//
//	gens  | 3 | 1 | 6 | 5 | 0 |     odd is live, even is vacant, worn is retired
//	live  | 1   1   0   1   0 |     the same in bits, for iteration
//	free  | 4 | 2 |                 the vacant ones, the next one last
//
// A handle contains gens[i] ^ key. The metadata does not, so that it is the same in every run.
//
// Invariants, verified by check in this order:
//
//	(1) n + retired <= opened <= len(gens) == len(free) <= capacity; opened, peak and soiled
//	    are at most capacity, which fits the reservation; key is even
//	(2) the live bit of a slot is set exactly if its generation is odd
//	(3) no generation is odd from opened on
//	(4) free[:n] are distinct opened slots that are neither live nor retired
//	(5) retired counts the worn slots below opened; n + retired + live == opened
//	(6) the number of lives of all slots, half their generations rounded up, is allocs
//	(7) in debug builds, vacant slots contain poison
//	(8) closed metadata has no slot
type slots struct {
	key    uint32
	gens   []uint32
	free   []uint32
	live   []uint64
	n      uint   // vacant slots on the stack
	allocs uint64 // objects allocated since New

	opened   uint // slots that are live, vacant on the stack or retired: the first ones
	retired  uint
	capacity uint // 0 once closed
	peak     uint // the highest value that a trim lowered
	soiled   uint // slots up to there were opened before; those that are committed contain poison
	failures uint64
	full     error         // of New if no slot is vacant
	tables   [3]page.Table // of gens, free and live
}

// metadata is slots with its methods. A Pool embeds slots for its fields alone: methods of an embedded type would be
// compiled again for every type of a Pool.
type metadata slots

func meta(s *slots) *metadata { return (*metadata)(s) }

// A backing is the memory of the slots, for calls that are too rare to be inlined.
type backing interface {
	// Name returns the name of the pool.
	Name() string
	// ready returns the number of slots that have memory.
	ready() uint
	// ensure commits memory for the first n slots or changes nothing.
	ensure(n uint) error
	// fit commits memory for the first n slots for a load.
	fit(c *save.Coder, n uint)
	// soil poisons the slots from i to end.
	soil(i, end uint)
	// damage returns what was written to slot i since it was poisoned, and where; "" if nothing.
	damage(i uint) (at unsafe.Pointer, what string)
}

// limit sets the largest number of slots, whose memory is of src. name is that of the pool.
func (s *metadata) limit(src page.Source, name string, capacity uint) {
	s.capacity = capacity
	for i, bytes := range tableBytes(capacity) {
		s.tables[i] = page.NewTable(src, bytes)
	}
	s.full = fmt.Errorf("pool: %s: no vacant slot of %d; free objects or raise Config.Capacity: %w", name, capacity, memory.ErrOutOfMemory)
}

// take pops a vacant slot and begins its next life. ok is false if there is none.
func (s *metadata) take() (i, gen uint32, ok bool) {
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

// has reports whether the slot is live in this generation. An even generation must not match a vacant slot.
func (s *metadata) has(i, gen uint32) bool {
	return uint(i) < uint(len(s.gens)) && s.gens[i] == gen && gen&1 != 0
}

// drop ends the life of a slot that has(i, gen).
func (s *metadata) drop(i, gen uint32) {
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

// count returns the number of live slots.
func (s *metadata) count() uint { return s.opened - s.n - s.retired }

// refill makes at least one slot vacant. size is the bytes of a slot with all its parts. Slots with memory and metadata
// are used up before any are committed, so that no New calls the source for the slots of a Grow.
func (s *metadata) refill(size uintptr, g backing) error {
	for s.n == 0 { // again if every slot of a batch is retired
		if s.capacity == 0 {
			return memory.ErrClosed
		}
		k := min(max(uint(batchBytes/size), 1), batchSlots, s.capacity-s.opened)
		if ready := min(uint(len(s.gens)), g.ready()); ready > s.opened {
			k = min(k, ready-s.opened)
		}
		if k == 0 {
			s.failures++
			return s.full
		}
		err := s.provide(s.opened+k, g)
		if err != nil && k > 1 {
			k = 1
			err = s.provide(s.opened+1, g)
		}
		if err != nil {
			s.failures++
			return err
		}
		s.open(k, g)
	}
	return nil
}

// grow prepares memory and metadata for n slots, and opens none, so that Peak stays accurate.
func (s *metadata) grow(n int, g backing) error {
	if s.capacity == 0 {
		return memory.ErrClosed
	}
	if n < 0 || uint(n) > s.capacity {
		s.failures++
		return fmt.Errorf("pool: %s: Grow to %d slots, there are %d; raise Config.Capacity: %w", g.Name(), n, s.capacity, memory.ErrTooLarge)
	}
	if err := s.provide(uint(n), g); err != nil {
		s.failures++
		return err
	}
	return nil
}

// provide commits memory for the first n slots and grows the metadata to describe them. free has an entry for every
// slot, so that drop never grows it. The metadata comes first, so that nothing is committed if it has no memory.
func (s *metadata) provide(n uint, g backing) error {
	entries := uint(0) // of the metadata; 0: as many as now
	if n > uint(len(s.gens)) {
		entries = max(n, min(2*uint(len(s.gens)), s.capacity))
		err := s.prepare(entries)
		if err != nil && entries > n {
			entries = n
			err = s.prepare(entries)
		}
		if err != nil {
			return shortOf(g.Name(), err)
		}
	}
	if err := g.ensure(n); err != nil || entries == 0 {
		return shortOf(g.Name(), err)
	}
	s.lengthen(entries)
	return nil
}

// shortOf adds the name of the pool to an error that memory is short.
func shortOf(pool string, err error) error {
	if errors.Is(err, memory.ErrOutOfMemory) {
		return fmt.Errorf("pool: %s: %w", pool, err)
	}
	return err
}

// prepare makes sure that lengthen has memory for n slots, or returns why it has not.
func (s *metadata) prepare(n uint) error {
	for i, bytes := range tableBytes(n) {
		if !s.tables[i].Prepare(bytes) {
			return page.ProbeHeap(uintptr(n) * slotMetadata)
		}
	}
	return nil
}

// tableBytes returns the bytes of gens, free and live of n slots.
func tableBytes(n uint) [3]uintptr {
	return [3]uintptr{uintptr(n) * 4, uintptr(n) * 4, uintptr(n+63) >> 6 * 8}
}

// lengthen makes the metadata reach to slot n.
func (s *metadata) lengthen(n uint) {
	if n <= uint(len(s.gens)) {
		return
	}
	for i, bytes := range tableBytes(n) {
		s.tables[i].Prepare(bytes)
	}
	s.gens = page.Lengthen(&s.tables[0], s.gens, uintptr(n))
	s.free = page.Lengthen(&s.tables[1], s.free, uintptr(n))
	s.live = page.Lengthen(&s.tables[2], s.live, uintptr(n+63)>>6)
}

// slotMetadata is the bytes of metadata for a slot: generation, entry of the stack, live bit.
const slotMetadata = 9

// open makes the next k slots vacant, the lowest on top. A slot that was trimmed keeps its generation, so that its
// handles stay stale, and stays retired.
func (s *metadata) open(k uint, g backing) {
	end := s.opened + k
	if invariant.Debug {
		known := max(s.opened, min(end, s.soiled))
		for i := s.opened; i < known; i++ {
			verify(i, g)
		}
		g.soil(known, end)
	}
	for i := end; i > s.opened; i-- {
		if s.gens[i-1] == worn {
			s.retired++
			continue
		}
		s.free[s.n] = uint32(i - 1)
		s.n++
	}
	s.opened = end
}

// reset ends every life, and sorts the stack: which slots the next objects get does not depend on the past.
func (s *metadata) reset() {
	for w := len(s.live) - 1; w >= 0; w-- {
		for word := s.live[w]; word != 0; {
			bit := uint(bits.Len64(word) - 1)
			word &^= 1 << bit
			i := uint32(uint(w)<<6 | bit)
			s.drop(i, s.gens[i])
		}
	}
	s.sort()
}

// last returns the number of slots up to the last live one.
func (s *metadata) last() uint {
	for w := len(s.live) - 1; w >= 0; w-- {
		if word := s.live[w]; word != 0 {
			return uint(w<<6 + bits.Len64(word))
		}
	}
	return 0
}

// trim closes the slots from opened on, which are not live, and sorts the stack.
func (s *metadata) trim(opened uint) {
	s.peak, s.soiled = max(s.peak, s.opened), max(s.soiled, s.opened)
	s.opened = opened
	s.sort()
}

// sort makes the lowest vacant slot the next one, as in a new pool.
func (s *metadata) sort() {
	s.n, s.retired = 0, 0
	for i := s.opened; i > 0; i-- {
		switch gen := s.gens[i-1]; {
		case gen == worn:
			s.retired++
		case gen&1 == 0:
			s.free[s.n] = uint32(i - 1)
			s.n++
		}
	}
}

// close drops the metadata: every handle is stale, no slot is vacant.
func (s *metadata) close() {
	s.peak = max(s.peak, s.opened)
	s.gens, s.free, s.live = nil, nil, nil
	for i := range s.tables {
		s.tables[i].Release()
		s.tables[i] = page.Table{}
	}
	s.n, s.opened, s.retired, s.capacity, s.soiled = 0, 0, 0, 0, 0
}

// stats returns the statistics of slots of size bytes.
func (s *metadata) stats(size uintptr) memory.Stats {
	live := uint64(s.count())
	return memory.Stats{
		InUse: live * uint64(size), Peak: uint64(max(s.peak, s.opened)) * uint64(size),
		Live: live, Allocs: s.allocs, Frees: s.allocs - live, Failures: s.failures,
	}
}
