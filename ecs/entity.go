package ecs

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// An Entity names one entity of one world. It is 8 bytes without pointers. It may be stored in components, compared,
// copied and sent anywhere. When the entity is removed, the Entity becomes stale: look-ups in its world return false,
// and never panic. A stale Entity names no other entity until the world loads a state. [World.ReadJSON],
// [World.ReadBinary] and [World.SaveState] restore slots and generations. After loading, each Entity in a component
// names the same entity as in the state that was saved.
//
// An Entity does not identify its world. Worlds number entities alike, so the first Entity of every world is the same
// value. If an Entity is passed to another world, that world takes it for its own entity with the same slot and
// generation. No build detects this mistake. Programs with several worlds must store the world with the Entity.
//
// The zero Entity is never valid.
type Entity struct {
	index uint32
	gen   uint32
}

// MakeEntity returns the Entity with an index and a generation, for saved games and replays. If index is 0 or
// generation is even, MakeEntity returns the zero Entity. It does not check whether the Entity is alive in any world.
//
// If you read an Entity from bytes, pass it through MakeEntity(e.Index(), e.Generation()). The bytes may contain an
// even generation, which no world creates: a look-up may then succeed although no entity is alive. ReadJSON, ReadBinary
// and a save.Set with a world check this themselves, and return an error.
func MakeEntity(index, generation uint32) Entity {
	if index == 0 || generation&1 == 0 {
		return Entity{}
	}
	return Entity{index: index, gen: generation}
}

// Index returns the slot number. It is from 1 to Config.MaxEntities in an Entity that was ever valid, and 0 in the zero
// Entity. It is at least 1<<31 in a placeholder, which Spawn of [Task.Commands] returns and which is never valid.
func (e Entity) Index() uint32 { return e.index }

// Generation returns the generation of the slot. The generation is odd in every Entity that was ever valid, and 0 in
// the zero Entity. It rises by 2 with each reuse of the slot.
func (e Entity) Generation() uint32 { return e.gen }

// IsZero reports whether e is the zero Entity.
func (e Entity) IsZero() bool { return e == Entity{} }

// String returns slot and generation in the form "#12.7".
func (e Entity) String() string { return fmt.Sprintf("#%d.%d", e.index, e.gen) }

const (
	// Records are put in use by 4096, which are 32 KiB: it takes microseconds.
	runRecords = 1 << 12

	// A slot whose next life would repeat a generation stays at retiredGen for good.
	retiredGen = 0xFFFFFFFE
	lastGen    = retiredGen - 1

	maxMaxEntities = 1 << 28
)

// A record is what the world knows of one slot: 8 bytes without pointers, so that the
// collector skips the index and a random look-up touches one cache line of it.
type record struct {
	gen uint32 // odd: alive; even: vacant
	loc uint32 // alive: segment<<rowBits | row; vacant: the next free slot, 0 at the end
}

const recordBytes = unsafe.Sizeof(record{})

// word returns both halves of r, gen at genShift and loc at locShift. A look-up at random waits for the
// line of its record, and the fewer loads wait with it, the more look-ups are under way at once.
func (r *record) word() uint64 { return *(*uint64)(unsafe.Pointer(r)) }

// An entityIndex is the table from slot to record, in one reservation that is committed as it
// grows: no record is ever copied, a look-up is one load, and the collector knows nothing of it.
// In the Go heap it would be pages of records, and a load more to find the page: half as long
// again for every look-up. One slice for MaxEntities would count as live from the start.
//
// Invariants, verified in this order by check:
//
//	(1) slot 0 is retired, so the zero Entity is never valid and 0 can end the free list
//	(2) bump is at most the number of slots in use, or 1; these are whole runs; peak <= max
//	(3) the free list has no cycle, and its slots are below bump, even and not retired
//	(4) every slot below bump is alive, on the free list or retired
//	(5) no slot from bump on is alive
//	(6) live is the number of odd slots below bump, and live <= usable <= max
//	(7) usable is max less the slots that are worn out: those that are retired, and in idle
//	    runs those that Reset met on their last life
//	(8) lastLife is the number of live slots that are on it
type entityIndex struct {
	// recs[:len] are in use; up to cap there may be idle ones from before a reset, whose
	// generations still count. Beyond cap what is committed is zero.
	recs     []record
	free     uint32 // first vacant slot, last removed first; 0 when there is none
	bump     uint32 // first slot not used since New or Reset
	live     uint32
	peak     uint32 // highest live at the last removal; see peakNow
	usable   uint32 // slots that are alive or may live again
	lastLife uint32 // live slots that will be retired when they are removed
	max      uint32
	mem      page.Prefix // where recs lies; closed before the first entity
	pages    page.Source
	guard    *guard
	full     error // made once, so that running full every frame allocates nothing
}

func newEntityIndex(cfg Config) entityIndex {
	n := uint32(cfg.MaxEntities)
	return entityIndex{
		bump: 1, usable: n, max: n, pages: cfg.Pages,
		full: fmt.Errorf("ecs: all %d entities of Config.MaxEntities are taken: %w", n, ErrLimit),
	}
}

// at returns the record of a slot that is in use.
func (x *entityIndex) at(index uint32) *record { return &x.recs[index] }

// find returns the record of e, or nil when e is stale.
func (x *entityIndex) find(e Entity) *record {
	if uint(e.index) >= uint(len(x.recs)) {
		return nil
	}
	r := &x.recs[e.index]
	if r.gen != e.gen {
		return nil
	}
	return r
}

// take brings a slot to life at loc. The caller has seen that one is ready.
func (x *entityIndex) take(loc uint32) Entity {
	i := x.free
	if i == 0 {
		i = x.unusedSlot()
	}
	r := x.at(i)
	if x.free != 0 {
		x.free = r.loc
	}
	r.gen++
	r.loc = loc
	x.live++
	if r.gen == lastGen {
		x.lastLife++
	}
	return Entity{index: i, gen: r.gen}
}

// takeRun is take for consecutive locations from loc on. Vacant slots come first, in a loop
// without calls: that halves the cost of a batch in a warm world.
func (x *entityIndex) takeRun(es []Entity, loc uint32) {
	n, free := 0, x.free
	for ; n < len(es) && free != 0; n++ {
		r := x.at(free)
		r.gen++
		if r.gen == lastGen {
			x.lastLife++
		}
		es[n] = Entity{index: free, gen: r.gen}
		free, r.loc = r.loc, loc+uint32(n)
	}
	x.free = free
	x.live += uint32(n)
	for ; n < len(es); n++ {
		es[n] = x.take(loc + uint32(n))
	}
}

// unusedSlot returns a slot that was not used since New or Reset, of those that are ready.
func (x *entityIndex) unusedSlot() uint32 {
	for x.at(x.bump).gen == retiredGen {
		x.bump++
	}
	x.bump++
	return x.bump - 1
}

// ready reports whether take will find a slot.
func (x *entityIndex) ready() bool {
	return x.free != 0 || uint(x.bump) < uint(len(x.recs)) && x.recs[x.bump].gen != retiredGen
}

// reserveSlots puts records in use until take will find n slots. What it has brought when it fails
// stays for the next entity.
//
//go:noinline
func (x *entityIndex) reserveSlots(n int) error {
	for i := x.free; i != 0 && n > 0; i = x.at(i).loc {
		n--
	}
	for i := x.bump; ; i++ {
		for uint(i) >= uint(len(x.recs)) {
			if n <= 0 {
				return nil
			}
			if err := x.extendRecords(); err != nil {
				return err
			}
		}
		if n <= 0 {
			return nil
		}
		if x.recs[i].gen != retiredGen {
			n--
		}
	}
}

// extendRecords puts the next run of records in use. Where it is one from before a reset, whatever was
// alive there is vacated now: that keeps Reset independent of the number of entities.
func (x *entityIndex) extendRecords() error {
	n := len(x.recs)
	if n+runRecords > cap(x.recs) {
		if err := x.commitRecords(n + runRecords); err != nil {
			return err
		}
	}
	x.recs = x.recs[:n+runRecords]
	run := x.recs[n:]
	for i := range run {
		run[i].gen += run[i].gen & 1
	}
	if n == 0 {
		run[0].gen = retiredGen
	}
	return nil
}

// commitRecords makes room for n records, while the world is locked as in request.
func (x *entityIndex) commitRecords(n int) error {
	defer x.guard.endAlloc(x.guard.beginAlloc())
	err := error(nil)
	if x.mem.Base() == nil {
		runs := uintptr(x.max)/runRecords + 1
		if x.mem, err = page.NewPrefix(x.pages, runs*runRecords*recordBytes, runRecords*recordBytes, 0); err == nil {
			x.mem.Watch(x.guard.onPagesEnd)
		}
	}
	if err == nil {
		err = x.mem.Ensure(uintptr(n) * recordBytes)
	}
	if x.guard.closed() { // closed from within
		err = memory.ErrClosed
	}
	if err != nil {
		return fmt.Errorf("ecs: the index of %d entities: %w", n, err)
	}
	x.recs = unsafe.Slice((*record)(x.mem.Base()), n)[:len(x.recs)]
	return nil
}

// release vacates the slot of a live record.
func (x *entityIndex) release(index uint32, r *record) {
	if x.live > x.peak {
		x.peak = x.live
	}
	x.live--
	r.gen++
	if r.gen == retiredGen {
		r.loc = 0
		x.lastLife--
		x.usable--
		return
	}
	r.loc = x.free
	x.free = index
}

// reset vacates every slot at once, at a cost that does not depend on their number.
func (x *entityIndex) reset() {
	x.peak = x.peakNow()
	x.recs = x.recs[:0]
	x.free, x.bump, x.live = 0, 1, 0
	x.usable -= x.lastLife
	x.lastLife = 0
}

func (x *entityIndex) peakNow() uint32 { return max(x.peak, x.live) }

// close gives the records back, and leaves an index without slots. On error the pages are kept
// for another try.
func (x *entityIndex) close() error {
	x.peak = x.peakNow()
	x.recs, x.free, x.bump, x.live, x.lastLife, x.usable = nil, 0, 1, 0, 0, x.max
	return x.mem.Close()
}
