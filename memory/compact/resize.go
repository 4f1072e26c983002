package compact

import (
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// Resize changes the size in bytes of a block in place, locked or not, and reports whether it succeeded. A block grows
// into the gap after it, and the last block also into memory that can be committed. The contents are kept up to the
// smaller size; new bytes are not zeroed. If x is stale, the gap is too small, or memory cannot grow, Resize returns
// false, and the block keeps its size. To grow nevertheless, Alloc a new block, copy the contents and Free the old
// block.
//
// Slices of Bytes keep the old length; after shrinking, their bytes beyond the new size do not belong to the block. If
// Compact has begun to move the block, a Resize to at most the reservation finishes the move, even if it returns false.
// Cost: as [Heap.Lock]; if the heap grows, as [Heap.Alloc].
func (h *Heap) Resize(x Handle, size uintptr) bool {
	room := align.Up(max(size, 1), h.align)
	r := h.find(x)
	if r == nil || room < size || room > h.mem.Reserved() {
		return false
	}
	h.owner.Touch()
	i := x.Index()
	h.arrive(i)
	for room > r.room+r.gap {
		if r.next != head || h.mem.Ensure(r.off+room) != nil {
			return false
		}
		h.fitTail()
		if r = h.find(x); r == nil { // a function of the source may have freed or moved it
			return false
		}
		h.arrive(i)
	}
	if n := min(size, r.size); size > n {
		invariant.Fresh(h.at(r.off+n), size-n)
	} else {
		invariant.Freed(h.at(r.off+n), r.size-n)
	}
	h.unlinkGap(i)
	r.gap += r.room - room
	h.used += uint64(room) - uint64(r.room)
	h.requested += uint64(size) - uint64(r.size)
	h.peak = max(h.peak, h.used)
	r.room, r.size = room, size
	h.linkGap(i)
	h.shifts++
	if r.gap != 0 && r.off < h.records[h.cursor].off {
		h.revisit(&h.records[r.next])
	}
	return true
}
