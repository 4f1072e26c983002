package buddy

import (
	"errors"
	"math/bits"

	"github.com/strata-go/strata/memory"
)

// dropLists removes every free block from the lists.
func (h *Heap) dropLists() {
	h.mask = 0
	for k := range h.lists {
		h.lists[k] = none
	}
}

// link makes p a free block and puts it at the front of the list of its rung.
func (h *Heap) link(p part) {
	head := h.lists[p.rung]
	h.entries[p.off] = entry{next: head, prev: none, rung: p.rung, side: p.side, state: free}
	if head != none {
		h.entries[head].prev = p.off
	}
	h.lists[p.rung] = p.off
	h.mask |= 1 << (p.rung & 63)
}

// unlink removes the free block at off from its list and returns it.
func (h *Heap) unlink(off uint32) part {
	e := &h.entries[off]
	e.state = 0
	if e.next != none {
		h.entries[e.next].prev = e.prev
	}
	if e.prev != none {
		h.entries[e.prev].next = e.next
	} else {
		h.lists[e.rung] = e.next
		if e.next == none {
			h.mask &^= 1 << (e.rung & 63)
		}
	}
	return part{off, e.rung, e.side}
}

// split takes the free block at off and splits it down for n units at a multiple of step, which must fit. Of two parts
// that fit it keeps the smaller one, or the left one.
func (h *Heap) split(off, n, step uint32) part {
	p := h.unlink(off)
	for h.ladder.divisible(p) {
		keep, rest := h.ladder.parts(p)
		if h.ladder.gap > 1 {
			keep, rest = rest, keep // the right part is the smaller one
		}
		if !h.ladder.holds(keep, n, step) {
			keep, rest = rest, keep
			if !h.ladder.holds(keep, n, step) {
				break
			}
		}
		h.link(rest)
		p = keep
	}
	return p
}

// give makes p free and merges it with its buddy as long as the buddy is free. Only the buddy itself can be free at its
// place with its rung.
func (h *Heap) give(p part) {
	for p.rung < h.ladder.top {
		off, rung := h.ladder.buddy(p)
		if e := &h.entries[off]; e.state != free || e.rung != rung {
			break
		}
		p = h.ladder.parent(p, h.unlink(off).side)
	}
	h.link(p)
}

// find returns a free block that holds n units at a multiple of step, or none.
func (h *Heap) find(n, step uint32) uint32 {
	sure := n + step - 1 // a block of as many units holds them wherever it lies
	if h.system == Binary {
		sure = max(n, step) // or is aligned to its size
	}
	end := h.ladder.top + 1
	if sure <= h.ladder.root() {
		end = h.ladder.rung(sure)
	}
	if rungs := h.mask >> end; rungs != 0 {
		return h.lists[int(end)+bits.TrailingZeros64(rungs)]
	}
	for k := h.ladder.rung(n); k < end; k++ {
		for off := h.lists[k]; off != none; off = h.entries[off].next {
			if h.ladder.holds(part{off, k, 0}, n, step) {
				return off
			}
		}
	}
	return none
}

// committed returns the number of committed units.
func (h *Heap) committed() uint32 {
	return min(uint32(h.mem.Committed()>>h.grain), uint32(len(h.entries)))
}

// errFull is the error of grow if the reservation is full. Nothing below the heap has refused, so Alloc names no Cause.
var errFull = errors.New("the reservation is full")

// grow commits memory until a free block fits n units at a multiple of step. If it fails, nothing has changed.
func (h *Heap) grow(n, step uint32) error {
	p, ok := h.place(h.ladder.whole(), h.tail(), n, step)
	if !ok {
		return errFull
	}
	before := h.committed()
	if err := h.mem.Ensure(h.grain.Bytes(p.off + h.ladder.size[p.rung])); err != nil {
		return err
	}
	if h.base == nil { // a function that the source has called has closed the heap
		return memory.ErrClosed
	}
	h.poison(before, h.committed())
	h.adopt(h.ladder.whole(), before, h.committed())
	return nil
}

// place returns the part of p that lies behind tail, fits n units at a multiple of step, and ends first.
func (h *Heap) place(p part, tail, n, step uint32) (part, bool) {
	if p.off+h.ladder.size[p.rung] <= tail {
		return part{}, false
	}
	fits := p.off >= tail && h.ladder.holds(p, n, step)
	if p.off >= tail && !fits || !h.ladder.divisible(p) {
		return p, fits
	}
	a, b := h.ladder.parts(p)
	if q, ok := h.place(a, tail, n, step); ok {
		return q, true
	}
	if q, ok := h.place(b, tail, n, step); ok {
		return q, true
	}
	return p, fits
}

// adopt frees the parts of p in the units from start to end.
func (h *Heap) adopt(p part, start, end uint32) {
	last := p.off + h.ladder.size[p.rung]
	switch {
	case last <= start || p.off >= end:
	case p.off >= start && last <= end:
		h.give(p)
	default:
		a, b := h.ladder.parts(p)
		h.adopt(a, start, end)
		h.adopt(b, start, end)
	}
}

// abandon removes the free memory of p in the units from start to end, where no block is live, from the metadata. A
// block that reaches over start is split.
func (h *Heap) abandon(p part, start, end uint32) {
	if p.off+h.ladder.size[p.rung] <= start || p.off >= end {
		return
	}
	if h.startsAt(p, free) {
		h.unlink(p.off)
		h.adopt(p, p.off, start)
		return
	}
	a, b := h.ladder.parts(p)
	h.abandon(a, start, end)
	h.abandon(b, start, end)
}

// tail returns where the last live block ends, in units.
func (h *Heap) tail() uint32 { return h.tailOf(h.ladder.whole()) }

func (h *Heap) tailOf(p part) uint32 {
	switch {
	case p.off >= h.committed() || h.startsAt(p, free):
		return 0
	case h.startsAt(p, live):
		return p.off + h.ladder.size[p.rung]
	}
	a, b := h.ladder.parts(p)
	if end := h.tailOf(b); end > 0 {
		return end
	}
	return h.tailOf(a)
}

// startsAt reports whether p is a block in state s, and not the place of smaller ones.
func (h *Heap) startsAt(p part, s state) bool {
	e := &h.entries[p.off]
	return e.state&s != 0 && e.rung == p.rung
}

// blockAt returns the block that covers a committed unit.
func (h *Heap) blockAt(unit uint32) part {
	p := h.ladder.whole()
	for !h.startsAt(p, free|live) && h.ladder.divisible(p) {
		a, b := h.ladder.parts(p)
		p = a
		if unit >= b.off {
			p = b
		}
	}
	return p
}
