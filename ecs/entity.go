package ecs

import "fmt"

// An Entity names one entity of one world. It is 8 bytes, holds no pointer, and may be
// kept in components, compared, copied and sent anywhere. Once its entity is removed it is
// stale: looking it up yields ok == false, never a panic and never another entity.
//
// The zero Entity is never valid.
type Entity struct {
	index uint32
	gen   uint32
}

// MakeEntity builds an Entity from the parts that Index and Generation returned, for saved
// games and replays. An even generation gives the zero Entity.
func MakeEntity(index, generation uint32) Entity {
	if generation&1 == 0 {
		return Entity{}
	}
	return Entity{index: index, gen: generation}
}

// Index returns the slot number, from 1 to Config.MaxEntities; 0 for the zero Entity.
func (e Entity) Index() uint32 { return e.index }

// Generation returns the generation; odd in every Entity that was ever valid.
func (e Entity) Generation() uint32 { return e.gen }

// IsZero reports whether e is the zero Entity.
func (e Entity) IsZero() bool { return e == Entity{} }

// String prints slot and generation, as "#12.7".
func (e Entity) String() string { return fmt.Sprintf("#%d.%d", e.index, e.gen) }

const (
	// One page of records is 32 KiB: the largest size class of the Go heap, so a page costs
	// microseconds to make, and the directory of a million entities is 2 KiB.
	pageShift   = 12
	pageRecords = 1 << pageShift
	pageMask    = pageRecords - 1

	// A slot whose next life would repeat a generation stays at retiredGen for good.
	retiredGen = 0xFFFFFFFE
	lastGen    = retiredGen - 1

	maxMaxEntities = 1 << 28
)

// A record is what the world knows of one slot: 8 bytes without pointers, so that the
// collector skips the index and a random look-up touches one cache line of it.
type record struct {
	gen uint32 // odd: alive; even: vacant
	loc uint32 // alive: chunk<<rowBits | row; vacant: the next free slot, 0 at the end
}

type page [pageRecords]record

// An entityIndex is the table from slot to record. It grows page by page and never copies
// a record.
//
// Invariants, verified in this order by check:
//
//	(1) slot 0 is retired, so the zero Entity is never valid and 0 can end the free list
//	(2) the last page in use is that of slot bump-1; peak <= max
//	(3) the free list has no cycle, and its slots are below bump, even and not retired
//	(4) every slot below bump is alive, on the free list or retired
//	(5) no slot from bump on is alive
//	(6) live is the number of odd slots below bump, and live <= room <= max
//	(7) room is max less the slots that are worn out: those that are retired, and in idle
//	    pages those that Reset met on their last life
//	(8) lastLife is the number of live slots that are on it
type entityIndex struct {
	// pages[:len] are in use; up to cap there may be idle pages from before a reset, whose
	// generations still count.
	pages    []*page
	free     uint32 // first vacant slot, last removed first; 0 when there is none
	bump     uint32 // first slot not used since New or Reset
	live     uint32
	peak     uint32 // highest live at the last removal; see peakNow
	room     uint32 // slots that are alive or may live again
	lastLife uint32 // live slots that will be retired when they are removed
	max      uint32
}

func newEntityIndex(n int) entityIndex {
	return entityIndex{
		pages: make([]*page, 0, (n+pageRecords)/pageRecords),
		bump:  1,
		room:  uint32(n),
		max:   uint32(n),
	}
}

// at returns the record of a slot whose page is in use.
func (x *entityIndex) at(index uint32) *record {
	return &x.pages[index>>pageShift][index&pageMask]
}

// find returns the record of e, or nil when e is stale.
func (x *entityIndex) find(e Entity) *record {
	p := uint(e.index >> pageShift)
	if p >= uint(len(x.pages)) {
		return nil
	}
	r := &x.pages[p][e.index&pageMask]
	if r.gen != e.gen {
		return nil
	}
	return r
}

// take brings a slot to life at loc. The caller has seen live < room.
func (x *entityIndex) take(loc uint32) Entity {
	i := x.free
	if i == 0 {
		i = x.fresh()
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

// fresh returns a slot that was not used since New or Reset.
func (x *entityIndex) fresh() uint32 {
	for {
		i := x.bump
		if i>>pageShift >= uint32(len(x.pages)) {
			x.bringPage()
		}
		x.bump++
		if x.at(i).gen != retiredGen {
			return i
		}
	}
}

// bringPage puts the next page in use. In a page from before a reset, whatever was alive
// is vacated now: that keeps Reset independent of the number of entities.
//
//go:noinline
func (x *entityIndex) bringPage() {
	n := len(x.pages)
	x.pages = x.pages[:n+1]
	p := x.pages[n]
	if p == nil {
		p = new(page)
		x.pages[n] = p
	}
	for i := range p {
		p[i].gen += p[i].gen & 1
	}
	if n == 0 {
		p[0].gen = retiredGen
	}
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
		x.room--
		return
	}
	r.loc = x.free
	x.free = index
}

// reset vacates every slot at once, at a cost that does not depend on their number.
func (x *entityIndex) reset() {
	x.peak = x.peakNow()
	x.pages = x.pages[:0]
	x.free, x.bump, x.live = 0, 1, 0
	x.room -= x.lastLife
	x.lastLife = 0
}

func (x *entityIndex) peakNow() uint32 { return max(x.peak, x.live) }
