package buddy

import (
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/findings"
	"github.com/strata-go/strata/memory/internal/tally"
)

// Check returns the errors in the metadata, joined into one, or nil. After 32 it only counts the others. On a closed
// heap Check returns nil. Check ends even if links form a cycle. Cost: proportional to the reserved units. Check
// allocates only for errors.
func (h *Heap) Check() error {
	if h.base == nil {
		return nil
	}
	c := checker{List: findings.List{Of: "buddy"}, h: h}
	if c.configuration() {
		c.tree(h.ladder.whole())
		c.unused(h.committed(), uint32(len(h.entries)))
		c.lists()
	}
	h.counts.Check(c.sums, "unit", c.Add)
	return c.Err()
}

// checker is the state of one Check.
type checker struct {
	findings.List
	h *Heap

	free [maxRungs]uint32 // blocks of the tree, by rung
	sums tally.Sums       // over the live blocks of the tree
}

// configuration verifies invariant 1 and reports whether the others can be verified.
func (c *checker) configuration() bool {
	h := c.h
	if err := h.mem.Check(); err != nil {
		c.Add("%w", err)
	}
	unit := h.grain.Bytes(1)
	if unit < minUnit || unit > maxUnit || h.align != min(unit, memory.MaxAlign) {
		c.Add("blocks from %d bytes with alignments up to %d do not come from a configuration", unit, h.align)
	}
	if units := uint64(h.mem.Reserved()) >> h.grain; units == 0 || units > align.MaxGrains {
		c.Add("a reservation of %d bytes does not have from 1 to %d units of %d", h.mem.Reserved(), align.MaxGrains, unit)
		return false
	}
	if h.system > Fibonacci || h.ladder != ladderWithin(h.system, uint32(h.mem.Reserved()>>h.grain)) {
		c.Add("the ladder is not that of %v for a reservation of %d bytes", h.system, h.mem.Reserved())
		return false
	}
	root := h.ladder.root()
	if h.base != h.mem.Base() || uint64(h.limit) != min(uint64(root)<<h.grain, maxBytes) {
		c.Add("base %p and requests up to %d are not the root of %d units at %p", h.base, h.limit, root, h.mem.Base())
	}
	if uint32(len(h.entries)) != root {
		c.Add("%d entries for a root of %d units", len(h.entries), root)
		return false
	}
	return true
}

// tree verifies invariants 2 and 3 below p and reports whether p is a free block.
func (c *checker) tree(p part) bool {
	h := c.h
	if p.off >= h.committed() {
		return false
	}
	if h.startsAt(p, free|live) {
		if end := p.off + h.ladder.size[p.rung]; end > h.committed() {
			c.Add("the block at unit %d ends at %d, %d are committed", p.off, end, h.committed())
			return false
		}
		return c.block(p)
	}
	if !h.ladder.divisible(p) {
		c.Add("unit %d is in no block", p.off)
		return false
	}
	a, b := h.ladder.parts(p)
	freeA, freeB := c.tree(a), c.tree(b)
	if freeA && freeB {
		c.Add("the buddies at units %d and %d are both free", a.off, b.off)
	}
	return false
}

// block verifies the block p and reports whether it is free.
func (c *checker) block(p part) bool {
	h := c.h
	e, end := &h.entries[p.off], p.off+h.ladder.size[p.rung]
	if e.side != p.side {
		c.Add("the block at unit %d has side %02b, its place %02b", p.off, e.side, p.side)
	}
	if e.state == free {
		c.free[p.rung]++
		c.unused(p.off+1, end)
		return true
	}
	c.pointer(p, end)
	return false
}

// pointer verifies invariants 4 and 5 for the live block p.
func (c *checker) pointer(p part, end uint32) {
	h, found := c.h, 0
	if s := h.entries[p.off].state; s&^handed != live {
		c.Add("the live block at unit %d has state %03b", p.off, s)
	}
	for at := p.off; at < end; at++ {
		e := &h.entries[at]
		if e.state&handed == 0 {
			if at > p.off {
				c.unused(at, at+1)
			}
			continue
		}
		found++
		c.sums.Add(end-p.off, uintptr(e.next))
		if at > p.off && (e.state != handed || h.system == Binary) || e.prev != at-p.off ||
			uint64(at)+uint64(h.grain.Count(uintptr(e.next))) > uint64(end) {
			c.Add("the pointer at unit %d, state %03b, %d units into the block of %d at unit %d, is too near its end for %d bytes", at, e.state, e.prev, end-p.off, p.off, e.next)
		}
	}
	if found != 1 {
		c.Add("the live block at unit %d has %d pointers", p.off, found)
	}
}

// unused verifies invariant 5 from unit start to end.
func (c *checker) unused(start, end uint32) {
	for at := start; at < end; at++ {
		if s := c.h.entries[at].state; s != 0 {
			c.Add("unit %d, where nothing starts, has state %03b", at, s)
		}
	}
}

// lists verifies invariant 6: what is on a list is in the tree if its links agree, and a list has as many blocks as the
// tree.
func (c *checker) lists() {
	h := c.h
	for k, head := range h.lists {
		if bit := h.mask>>k&1 == 1; bit != (head != none) {
			c.Add("rung %d has bit %t and head %d", k, bit, head)
		}
		n, prev := uint32(0), none
		for off := head; off != none; n++ {
			if off >= uint32(len(h.entries)) {
				c.Add("the list of rung %d leads to unit %d of %d", k, off, len(h.entries))
				break
			}
			e := &h.entries[off]
			if e.state != free || int(e.rung) != k || e.prev != prev {
				c.Add("unit %d on the list of rung %d behind %d has state %03b, rung %d, prev %d", off, k, prev, e.state, e.rung, e.prev)
				break
			}
			prev, off = off, e.next
		}
		if n != c.free[k] {
			c.Add("the list of rung %d has %d blocks, %d are free", k, n, c.free[k])
		}
	}
	if h.mask>>maxRungs != 0 {
		c.Add("the mask %#x has bits beyond %d rungs", h.mask, maxRungs)
	}
}
