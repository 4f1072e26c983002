package compact

import (
	"cmp"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// A Budget bounds one Compact. The zero Budget has no bound.
type Budget struct {
	// Bytes bounds the work: the number of bytes moved, plus 56 for each record visited. 0 means no bound.
	Bytes uintptr
	// Time is the time after which no more work begins. 0 and negative values mean no bound. Compact copies at most 64
	// KiB at once. It reads the clock after every 16 KiB of work, but not during a copy. Compact may therefore exceed
	// Time by the duration of 80 KiB of work.
	Time time.Duration
}

const (
	recordBytes = 56       // what reading a record moves, on 64-bit machines
	copyBytes   = 64 << 10 // some microseconds
	clockBytes  = 16 << 10 // about a microsecond, of which reading the clock is a few per cent
)

// A move is the unfinished move of one block. The first done of its bytes are at the record's offset, and the others
// still way bytes after that. The size of the record that includes padding spans both places.
type move struct {
	record uint32 // 0: none
	way    uintptr
	done   uintptr
}

// Compact slides blocks that are not locked toward the base. Each call continues where the last call stopped, and
// stops when the budget is spent, even in the middle of a block. A pass goes from the base to the end and gathers the
// free memory in one gap. Memory that is freed between the base and this gap waits for the next pass.
//
// The result moved is the number of bytes that this call has moved. The result done reports that nothing is left to
// move: each block directly above a gap is locked. If done is true and no block is locked, all free memory is one
// block. After Compact, the slices of Bytes and the addresses of all blocks that are not locked are invalid. On a
// closed heap Compact panics with a *memory.Misuse.
func (h *Heap) Compact(b Budget) (moved uintptr, done bool) {
	if h.base == nil {
		panic(&memory.Misuse{Package: "compact", Op: "Compact", Reason: "the heap is closed"})
	}
	h.owner.Touch()
	b.Bytes = cmp.Or(b.Bytes, ^uintptr(0))
	var start time.Time
	if b.Time > 0 {
		start = time.Now()
	}
	work, look := uintptr(0), uintptr(clockBytes)
	for work < b.Bytes && !h.settled() {
		if h.moving.record != 0 {
			n := h.push(min(b.Bytes-work, copyBytes))
			moved += n
			work += n
		} else {
			h.advance()
			work += min(recordBytes, b.Bytes-work)
		}
		if work >= look && b.Time > 0 {
			if time.Since(start) >= b.Time {
				break
			}
			look = work + clockBytes
		}
	}
	return moved, h.settled()
}

// settled reports whether Compact has nothing to do.
func (h *Heap) settled() bool {
	return h.moving.record == 0 && h.records[h.cursor].next == head && h.again == 0
}

// revisit lets the next pass start at the gap in front of r, which the cursor has passed. If the cursor returned at
// once, Compact would not reach the end of the heap as long as blocks are freed.
func (h *Heap) revisit(r *record) {
	if h.again == 0 || r.off <= h.records[h.again].off {
		h.again = r.prev
	}
}

// advance passes the cursor's gap if it is empty or in front of a locked block. Otherwise it begins to move the block
// after it. After the last gap it begins the next pass.
func (h *Heap) advance() {
	before := &h.records[h.cursor]
	i := before.next
	if i == head {
		h.cursor, h.again = h.again, 0
		return
	}
	r := &h.records[i]
	if before.gap == 0 || r.locks != 0 {
		h.cursor = i
		return
	}
	h.unlinkGap(h.cursor)
	h.shifts++
	h.moving = move{record: i, way: before.gap}
	r.off -= before.gap
	r.room += before.gap
	before.gap = 0
}

// push moves the next bytes of the moving block, at most limit, and returns how many.
func (h *Heap) push(limit uintptr) uintptr {
	m := &h.moving
	r := &h.records[m.record]
	n := min(limit, r.size-m.done)
	to := h.at(r.off + m.done)
	copy(unsafe.Slice((*byte)(to), n), unsafe.Slice((*byte)(unsafe.Add(to, m.way)), n))
	if m.done += n; m.done == r.size {
		h.endMove()
	}
	return n
}

// endMove makes the gap that the moving block has crossed the one after it.
func (h *Heap) endMove() {
	i, way := h.moving.record, h.moving.way
	h.unlinkGap(i)
	r := &h.records[i]
	r.room -= way
	r.gap += way
	h.linkGap(i)
	h.moving = move{}
	h.shifts++
	left := min(way, r.room) // of the block's old place; the rest was free before
	invariant.Freed(h.at(r.end()+way-left), left)
}

// arrive finishes the move of block i if that has begun.
func (h *Heap) arrive(i uint32) {
	if h.moving.record == i {
		h.push(^uintptr(0))
	}
}
