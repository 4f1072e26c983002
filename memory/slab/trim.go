package slab

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// Trim recycles every span without a live block, so that any class may use the memory of the span. Then it decommits
// the memory above the highest span in use, in whole pages (page.SizeOf). Memory between spans in use stays committed:
// see [Heap.TrimStep]. If the function of page.Limit.OnSoft calls Trim during a commit of this heap, Trim only recycles
// spans: it decommits nothing and returns nil.
//
// If the page source fails, the error wraps the source's error. The spans are recycled nevertheless. Cost: proportional
// to the free blocks and the committed KiB.
func (h *Heap) Trim() error {
	if h.base == nil {
		return memory.ErrClosed
	}
	h.owner.Touch()
	h.undo.broken = true
	h.reclaim()
	for h.poisoned = min(h.poisoned, h.limit); ; {
		if err := h.mem.Trim(h.limit << granuleShift); err != nil {
			return fmt.Errorf("slab: trim: %w", err)
		}
		if h.mem.Busy() || !h.lowerAbsent() {
			return nil
		}
	}
}

// emptied marks, in tally, the first unit of a span that is going: more blocks than a span has.
const emptied = ^uint16(0)

// reclaim takes the spans without a live block from their classes and returns the number of
// units. It does no work while nothing was freed since it last found nothing.
func (h *Heap) reclaim() uintptr {
	frees := h.frees()
	if frees == h.futile {
		return 0
	}
	h.looked = frees
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

// count tallies the free blocks of each span at its first unit.
func (h *Heap) count() {
	_ = h.countTo(h.tallied()) // it does, or it is small
	clear(h.tally.of[:h.limit/unitGranules])
	for i := range h.ladder.sizes {
		for _, off := range h.classes[i].free() {
			h.tally.of[h.spanOf(off)]++
		}
	}
}

// spanOf returns the first unit of the span that holds granule off, whose unit is not vacant.
func (h *Heap) spanOf(off uint32) uint32 {
	unit := off / unitGranules
	return unit - uint32(h.place[unit])
}

// unitsOf returns how many units the span has that starts at first: places ascend as far as it
// goes.
func (h *Heap) unitsOf(first uintptr) (n uintptr) {
	end := h.limit / unitGranules
	for n = 1; n < maxSpan && first+n < end && uintptr(h.place[first+n]) == n; n++ {
	}
	return n
}

// condemn marks the spans whose carved blocks are all free.
func (h *Heap) condemn() (units uintptr) {
	for i := range h.limit / unitGranules {
		if h.place[i] == 0 {
			h.short.examined++
			units += h.condemnSpan(i)
		}
	}
	return units
}

// condemnSpan marks the span that starts at first if its carved blocks are all free, and returns its units. The class
// then has the span no longer.
func (h *Heap) condemnSpan(first uintptr) (units uintptr) {
	n, s := h.unitsOf(first), &h.shapes[h.owned[first]]
	if uint32(h.tally.of[first]) != h.carvedIn(first, n) {
		return 0
	}
	h.undo.note(h, first, n)
	h.tally.of[first] = emptied
	s.units -= uint32(n)
	s.blocks -= uint32(n*unitGranules) / s.size
	return n
}

// carvedIn returns how many blocks of the span of n units from first on exist.
func (h *Heap) carvedIn(first, n uintptr) uint32 {
	return (h.carvedTo(first, n) - uint32(first*unitGranules)) / h.shapes[h.owned[first]].size
}

// carvedTo returns the granule at which the blocks of the span of n units from first on end. It is where the class
// takes its next block, or the end of the span.
func (h *Heap) carvedTo(first, n uintptr) uint32 {
	c, start := &h.classes[h.owned[first]], uint32(first*unitGranules)
	if c.bump != c.end && c.bump-start < uint32(n*unitGranules) {
		return c.bump
	}
	return start + uint32(n*unitGranules)
}

// filter drops the blocks of condemned spans from the stack of class ci, in place: they lie behind
// the others then.
func (h *Heap) filter(ci uint8) {
	h.sweep.on = false
	h.short.forget()
	c, s := &h.classes[ci], &h.shapes[ci]
	free, kept := c.free(), uint32(0)
	for i, off := range free {
		if h.tally.of[h.spanOf(off)] != emptied {
			free[i], free[kept] = free[kept], off
			kept++
		}
	}
	gone := c.n - kept
	c.n = kept
	c.carved -= gone
	h.carved -= uint64(gone) * uint64(s.size) << granuleShift
	if c.bump != c.end && h.tally.of[h.spanOf(c.bump)] == emptied {
		c.bump, c.end = 0, 0
	}
}

// vacate releases the units of condemned spans and lowers limit below those at its end.
func (h *Heap) vacate() {
	for i := range h.limit / unitGranules {
		if h.place[i] == 0 && h.tally.of[i] == emptied {
			h.vacateSpan(i)
		}
	}
	h.lower()
}

// vacateSpan releases the units of the span that starts at first.
func (h *Heap) vacateSpan(first uintptr) {
	n := h.unitsOf(first)
	h.vacateUnits(first, first+n)
	h.vacant += n
	h.lowest = min(h.lowest, first)
}

// lower takes limit below the vacant units at its end.
func (h *Heap) lower() {
	if h.central != nil {
		h.central.lent.below(h.limit).forget(h.place)
	}
	units := h.limit / unitGranules
	for units > 0 && h.place[units-1] == vacant {
		units--
		h.vacant--
	}
	h.limit = units * unitGranules
	h.lowest = min(h.lowest, units)
}

// free returns the free blocks of a class, newest last.
func (c *class) free() []uint32 { return unsafe.Slice((*uint32)(c.stack), c.n) }

// frees counts the blocks freed since New, over all classes.
func (h *Heap) frees() (n uint64) {
	for i := range h.ladder.sizes {
		n += h.classes[i].frees()
	}
	return n
}

// allocs counts the blocks handed out since New, over all classes.
func (h *Heap) allocs() (n uint64) {
	for i := range h.ladder.sizes {
		n += h.classes[i].allocs
	}
	return n
}

// Warm commits at least the given number of bytes at the start of the reservation, so that later calls of Alloc need
// not commit memory. The exception is memory that [Heap.TrimStep] has returned: Alloc commits it again. If the page
// source prefaults ([page.Options]), the page faults happen in Warm. Trim returns unused memory.
//
// If the parameter bytes exceeds the reservation, the error wraps memory.ErrOutOfMemory. If the page source fails, the
// error wraps the source's error. If Warm fails, no memory is committed. If the function of page.Limit.OnSoft calls
// Warm during a commit of this heap, and Warm must commit memory, Warm panics with a *memory.Misuse.
func (h *Heap) Warm(bytes uintptr) error {
	if h.base == nil {
		return memory.ErrClosed
	}
	h.owner.Touch()
	if err := h.mem.Ensure(bytes); err != nil {
		return fmt.Errorf("slab: warm: %w", err)
	}
	return nil
}
