package slab

import (
	"math/bits"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// BeginEpoch makes every block that is live now an old one; what is handed out from now on is
// young, until the next BeginEpoch. A block whose address is used again is young, too: what
// counts is when it was handed out.
//
// Alloc and Free do not pay for it: the old blocks leave the live map for a map of their own,
// so that the first Free of one misses the fast path, and finds it there. Cost: 8 bytes read
// and written for each KiB below the highest slab in use. In memfast builds, which have no
// live map, it does nothing. On a closed heap it panics with a *memory.Misuse.
func (h *Heap) BeginEpoch() {
	h.EndEpoch()
	if !invariant.Exact {
		return
	}
	n := h.limit / 64
	if uintptr(len(h.old)) < n {
		h.old = make([]uint64, n)
	}
	copy(h.old, h.live[:n])
	clear(h.live[:n])
}

// EndEpoch forgets the difference: every block is young. Cost and panic are BeginEpoch's.
func (h *Heap) EndEpoch() {
	if h.base == nil {
		panic(h.reject("EndEpoch", nil, 0))
	}
	h.owner.Touch()
	for i, w := range h.old {
		h.live[i] |= w
	}
	clear(h.old)
}

// Young yields the live blocks that were handed out since BeginEpoch, in the order of their
// addresses, with the bytes that each takes up; without an epoch those are all. The heap must
// not be used meanwhile. Cost: as BeginEpoch. In memfast builds it yields nothing.
func (h *Heap) Young(yield func(p unsafe.Pointer, size uintptr) bool) {
	if !invariant.Exact {
		return
	}
	for i, w := range h.live[:h.limit/64] {
		for ; w != 0; w &= w - 1 {
			off := uintptr(i*64 + bits.TrailingZeros64(w))
			if !yield(unsafe.Add(h.base, off<<granuleShift), uintptr(h.ladder.sizes[*h.owner8(off)])) {
				return
			}
		}
	}
}

// oldWord returns word i of the map of old blocks, which may be shorter than the live map.
func (h *Heap) oldWord(i uintptr) uint64 {
	if i < uintptr(len(h.old)) {
		return h.old[i]
	}
	return 0
}

// isLive reports whether a live block, young or old, starts at granule off below limit.
func (h *Heap) isLive(off uintptr) bool {
	return (*h.word(off)|h.oldWord(off>>6))>>(off&63)&1 != 0
}

// pushAny is push for blocks young and old.
func (h *Heap) pushAny(c *class, off uintptr) bool { return h.push(c, off) || h.pushOld(c, off) }

// pushOld is push for an old block: it is made a young one first.
func (h *Heap) pushOld(c *class, off uintptr) bool {
	bit := uint64(1) << (off & 63)
	if h.oldWord(off>>6)&bit == 0 {
		return false
	}
	h.old[off>>6] &^= bit
	*h.word(off) |= bit
	return h.push(c, off)
}

// checkEpoch verifies that no block is young and old, and that none is old beyond limit.
func (h *Heap) checkEpoch(r *report) {
	if len(h.old) > len(h.live) {
		r.say("the map of old blocks has %d words, the live map %d", len(h.old), len(h.live))
		return
	}
	for i, w := range h.old {
		if w&h.live[i] != 0 {
			r.say("the blocks %#x of word %d are young and old", w&h.live[i], i)
		}
		if w != 0 && uintptr(i) >= h.limit/64 {
			r.say("the map of old blocks has some beyond limit, at word %d", i)
		}
	}
}
