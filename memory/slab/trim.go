package slab

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// Trim recycles every slab that holds no live block, so that any class may use it, and gives
// the memory behind the last slab in use back to the source; what lies between slabs in use
// stays committed. Cost: proportional to the free blocks. The error is the source's: the
// slabs are recycled nevertheless.
func (h *Heap) Trim() error {
	if h.base == nil {
		return memory.ErrClosed
	}
	h.owner.Touch()
	h.reclaim()
	h.poisoned = min(h.poisoned, h.limit)
	if err := h.mem.Trim(h.limit << granuleShift); err != nil {
		return fmt.Errorf("slab: trim: %w", err)
	}
	return nil
}

// emptied marks, in tally, the first slab of a span that is going.
const emptied = ^uint32(0)

// reclaim takes the spans without a live block from their classes and returns the number of
// slabs. It does no work while nothing was freed since it last found nothing.
func (h *Heap) reclaim() uintptr {
	frees := h.frees()
	if frees == h.futile {
		return 0
	}
	h.count()
	h.peak = max(h.peak, h.carved)
	found := h.condemn()
	if found == 0 {
		h.futile = frees
		return 0
	}
	for i := range h.ladder.sizes {
		h.filter(uint8(i))
	}
	h.vacate()
	return found
}

// count tallies the free blocks of each span at its first slab.
func (h *Heap) count() {
	clear(h.tally[:h.limit/slabGranules])
	for i := range h.ladder.sizes {
		for _, off := range h.classes[i].free() {
			h.tally[h.spanOf(off)]++
		}
	}
}

// spanOf returns the first slab of the span that holds granule off; of a vacant slab itself.
func (h *Heap) spanOf(off uint32) uint32 {
	slab := off / slabGranules
	if h.place[slab] == vacant {
		return slab
	}
	return slab - uint32(h.place[slab])
}

// condemn marks the spans whose carved blocks are all free.
func (h *Heap) condemn() (slabs uintptr) {
	for i := range h.limit / slabGranules {
		if h.place[i] != 0 {
			continue
		}
		s := &h.shapes[h.owned[i]]
		if h.tally[i] == h.carvedIn(i) {
			h.tally[i] = emptied
			s.spans--
			slabs += uintptr(s.slabs)
		}
	}
	return slabs
}

// carvedIn returns how many blocks of the span that starts at slab first exist.
func (h *Heap) carvedIn(first uintptr) uint32 {
	ci := h.owned[first]
	c, s := &h.classes[ci], &h.shapes[ci]
	start := uint32(first * slabGranules)
	if c.bump != c.end && c.bump-start < s.slabs*slabGranules {
		return (c.bump - start) / s.size
	}
	return s.blocks
}

// filter drops the blocks of condemned spans from the stack of class ci, in place.
func (h *Heap) filter(ci uint8) {
	c, s := &h.classes[ci], &h.shapes[ci]
	free, kept := c.free(), uint32(0)
	for _, off := range free {
		if h.tally[h.spanOf(off)] != emptied {
			free[kept] = off
			kept++
		}
	}
	gone := c.n - kept
	c.n = kept
	c.carved -= gone
	h.carved -= uint64(gone) * uint64(s.size) << granuleShift
	if c.bump != c.end && h.tally[h.spanOf(c.bump)] == emptied {
		c.bump, c.end = 0, 0
	}
}

// vacate releases the slabs of condemned spans and lowers limit below those at its end.
func (h *Heap) vacate() {
	slabs := h.limit / slabGranules
	for i := range slabs {
		if h.place[i] != 0 || h.tally[i] != emptied {
			continue
		}
		n := uintptr(h.shapes[h.owned[i]].slabs)
		if h.central != nil {
			h.central.lent.drop(i, i+n) // first: what a cache then reads of owned is not believed
		}
		for j := range n {
			h.place[i+j], h.owned[i+j] = vacant, noClass
		}
		h.vacant += n
	}
	for slabs > 0 && h.place[slabs-1] == vacant {
		slabs--
		h.vacant--
	}
	h.limit = slabs * slabGranules
	h.lowest = 0
}

// free returns the free blocks of a class, newest last.
func (c *class) free() []uint32 { return unsafe.Slice((*uint32)(c.stack), c.n) }

// frees counts the blocks freed since New, over all classes.
func (h *Heap) frees() (n uint64) {
	for i := range h.ladder.sizes {
		c := &h.classes[i]
		n += c.allocs - uint64(c.carved-c.n)
	}
	return n
}
