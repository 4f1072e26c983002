package stream

import (
	"io/fs"
	"time"
	"unsafe"
)

// maxBlocks is how many blocks of a worker's heap an asset may have.
const maxBlocks = 4

// A block is memory of a worker's heap.
type block struct {
	p    unsafe.Pointer
	size uintptr
}

// A holding is what an asset has of one worker's heap.
type holding struct {
	worker int32
	n      int32
	blocks [maxBlocks]block
}

func (h *holding) bytes() (sum int64) {
	for _, b := range h.blocks[:h.n] {
		sum += int64(b.size)
	}
	return sum
}

// An entry is an asset in the books, guarded by the mutex of the streamer.
//
// Invariants:
//
//	(1) it is in the order queue exactly where it is Queued; in ready exactly where it is Ready
//	    and not parked; in blocked exactly where it is Waiting and retryAt is 0
//	(2) held is not empty only in Ready, Loaded, delivering, and cancelled out of that; then its
//	    blocks are of the heap of held.worker, and nobody else's
//	(3) requests > 0 but for what is cached, cancelled, Vacant, or a reload, which has none
//	(4) it is cached, and in the list of those, exactly where it is Loaded and has no handle
//	(5) next is the reload of an entry that is Loaded, whose of is that entry; both or neither
//	(6) size, which counts against Config.Resident, is 0 but in Ready, delivering, cancelled out
//	    of those, Loaded
type entry struct {
	state State
	kind  *kind
	name  string
	seq   uint64 // order of requests; never the same twice
	eta   Priority
	pos   int32 // in its order; -1: in none

	requests int
	first    uint32 // its newest handle, +1

	held  holding
	size  int64 // bytes that were decoded
	need  int64 // bytes that it is known to need
	value any   // *T
	err   error // of Failed; of Waiting for another attempt; of Loaded, why the last reload failed

	asked   time.Time
	due     time.Time // when it will be needed, as the priority said last; zero: nobody knows
	tries   int
	retryAt uint64 // Poll in which the next attempt is made
	passed  bool   // Waiting for room, and a Poll had none for it
	parked  bool   // Ready and delivered in part, in this Poll
	started bool   // its deliver function was called
	parts   bool   // and has returned ErrMore

	stamp   stamp // of the file that was read last
	changed bool  // the file is another one: reload it
	missing bool  // it was said that the file is gone
	hung    bool  // a worker was abandoned in a call for the file: Config.Watch does not check it
	next    uint32
	of      uint32 // both +1

	newer, older uint32 // in the list of what is cached, both +1
}

// A stamp tells one state of a file from another.
type stamp struct {
	mod  time.Time
	size int64
	mode fs.FileMode // a folder may take a file's place, and who may read it may change
}

func stampOf(i fs.FileInfo) stamp { return stamp{i.ModTime(), i.Size(), i.Mode()} }

func (s stamp) equal(o stamp) bool { return s.size == o.size && s.mode == o.mode && s.mod.Equal(o.mod) }

// vacantEntry is what a place is when nothing is there.
func vacantEntry() entry { return entry{pos: -1} }

// An order is a heap of indices into the entries: the lower ETA first, then the earlier
// request. Every entry knows its place, so that a change of priority costs O(log n).
type order struct {
	heap []uint32
}

func before(es []entry, a, b uint32) bool {
	if es[a].eta != es[b].eta {
		return es[a].eta < es[b].eta
	}
	return es[a].seq < es[b].seq
}

func (o *order) push(es []entry, i uint32) {
	o.heap = append(o.heap, i)
	es[i].pos = int32(len(o.heap) - 1)
	o.up(es, len(o.heap)-1)
}

func (o *order) remove(es []entry, i uint32) {
	at, last := int(es[i].pos), len(o.heap)-1
	o.swap(es, at, last)
	o.heap = o.heap[:last]
	es[i].pos = -1
	if at < last {
		o.fix(es, o.heap[at])
	}
}

// fix restores the order around i, whose priority has changed.
func (o *order) fix(es []entry, i uint32) {
	o.up(es, int(es[i].pos))
	o.down(es, int(es[i].pos))
}

func (o *order) up(es []entry, at int) {
	for at > 0 && before(es, o.heap[at], o.heap[(at-1)/2]) {
		o.swap(es, at, (at-1)/2)
		at = (at - 1) / 2
	}
}

func (o *order) down(es []entry, at int) {
	for {
		first := at
		for child := 2*at + 1; child <= 2*at+2 && child < len(o.heap); child++ {
			if before(es, o.heap[child], o.heap[first]) {
				first = child
			}
		}
		if first == at {
			return
		}
		o.swap(es, at, first)
		at = first
	}
}

func (o *order) swap(es []entry, a, b int) {
	o.heap[a], o.heap[b] = o.heap[b], o.heap[a]
	es[o.heap[a]].pos, es[o.heap[b]].pos = int32(a), int32(b)
}

// oldest returns the earliest request of all.
func (o *order) oldest(es []entry) uint32 {
	old := o.heap[0]
	for _, i := range o.heap[1:] {
		if es[i].seq < es[old].seq {
			old = i
		}
	}
	return old
}
