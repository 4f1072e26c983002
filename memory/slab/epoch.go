package slab

import (
	"math/bits"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/findings"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// BeginEpoch makes every live block old, except blocks of a Central and of Config.Large. Blocks that the Heap allocates
// afterwards are young until the next BeginEpoch, also at the address of a freed old block. [Heap.Young] yields the
// young blocks, for example to find leaks.
//
// An epoch does not change the cost of Alloc and Free, except that a Free of an old block takes the slow path.
// BeginEpoch reads and writes 8 bytes for each KiB up to the highest address used so far, and may allocate in the Go
// heap. In memfast builds BeginEpoch does nothing.
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

// EndEpoch ends the epoch that [Heap.BeginEpoch] has begun: no block is old any more. Without an epoch EndEpoch does
// nothing. Cost: the cost of BeginEpoch, without the allocation.
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

// Young yields the live blocks that were allocated since BeginEpoch, in the order of their addresses, until yield
// returns false. size is the block size of the class in bytes. Before BeginEpoch, and after EndEpoch, Young yields all
// live blocks. Young does not yield blocks of a Central or of Config.Large. The function yield must not use the heap.
// In memfast builds and on a closed heap Young yields nothing. Cost: 8 bytes read for each KiB up to the highest
// address in use.
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
func (h *Heap) checkEpoch(r *findings.List) {
	if len(h.old) > len(h.live) {
		r.Add("the map of old blocks has %d words, the live map %d", len(h.old), len(h.live))
		return
	}
	for i, w := range h.old {
		if w&h.live[i] != 0 {
			r.Add("the blocks %#x of word %d are young and old", w&h.live[i], i)
		}
		if w != 0 && uintptr(i) >= h.limit/64 {
			r.Add("the map of old blocks has some beyond limit, at word %d", i)
		}
	}
}
