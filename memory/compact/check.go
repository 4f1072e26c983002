package compact

import (
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/findings"
)

// Check verifies the heap's metadata and returns the inconsistencies that it finds, joined into one error, or nil. On a
// closed heap Check returns nil. Check ends even if links form a cycle. Cost: proportional to the records; Check
// allocates 3 bytes for each record.
func (h *Heap) Check() error {
	if h.base == nil {
		return nil
	}
	c := checker{List: findings.List{Of: "compact"}, h: h, seen: make([]seen, len(h.records))}
	if err := h.mem.Check(); err != nil {
		c.Add("%w", err)
	}
	if h.base != h.mem.Base() || !align.Valid(h.align) || h.align < minAlign {
		c.Add("base %p and alignment %d are not those of the reservation at %p", h.base, h.align, h.mem.Base())
		return c.Err() // nothing can be rounded to it
	}
	if h.key&1 != 0 {
		c.Add("the key %#x is odd", h.key)
	}
	c.ring()
	c.spares()
	c.gaps()
	c.progress()
	c.counters()
	return c.Err()
}

// checker is the state of one Check.
type checker struct {
	findings.List
	h    *Heap
	seen []seen // by record

	live, used, requested uint64 // sums over the ring
}

// seen says where a record was met.
type seen struct{ ring, gap, spare bool }

// valid reports whether a link of record from leads to a record, and fails otherwise.
func (c *checker) valid(i uint32, link string, from uint32) bool {
	if i >= head && uint(i) < uint(len(c.h.records)) {
		return true
	}
	c.Add("%s of record %d leads to record %d of %d", link, from, i, len(c.h.records))
	return false
}

// ring verifies invariants 1, 3 and 5.
func (c *checker) ring() {
	h := c.h
	settled := true // in front of the cursor and of the next pass
	for i, prev, off := uint32(head), h.records[head].prev, uintptr(0); ; {
		if !c.valid(i, "next", prev) {
			return
		}
		r := &h.records[i]
		if r.prev != prev {
			c.Add("record %d has prev %d, but follows %d", i, r.prev, prev)
		}
		if c.seen[i].ring {
			if i != head {
				c.Add("record %d is in the ring twice", i)
			} else if off != h.mem.Committed() {
				c.Add("the last gap ends at %d, %d bytes are committed", off, h.mem.Committed())
			}
			break
		}
		c.seen[i].ring = true
		if r.off != off {
			c.Add("record %d starts at %d, the gap before it ends at %d", i, r.off, off)
		}
		settled = settled && i != h.cursor && i != h.again
		if settled && r.gap != 0 && (r.next == head || uint(r.next) < uint(len(h.records)) && h.records[r.next].locks == 0) {
			c.Add("the cursor, at record %d, has passed the gap of record %d for good", h.cursor, i)
		}
		if i != head {
			c.block(i, r)
		}
		prev, off, i = i, r.off+r.room+r.gap, r.next
	}
	for _, at := range []uint32{h.cursor, h.again} {
		if at != 0 && (uint(at) >= uint(len(h.records)) || !c.seen[at].ring) || h.cursor == 0 {
			c.Add("the cursor is at record %d, the next pass begins at %d: not both are in the ring", h.cursor, h.again)
			break
		}
	}
	if r := &h.records[head]; r.off != 0 || r.room != 0 || r.size != 0 || r.locks != 0 {
		c.Add("the head is %+v", *r)
	}
}

// block verifies invariant 3 and adds the block up.
func (c *checker) block(i uint32, r *record) {
	h := c.h
	room := align.Up(max(r.size, 1), h.align)
	c.live++
	c.used += uint64(room)
	c.requested += uint64(r.size)
	if i == h.moving.record {
		room += h.moving.way
	}
	if r.room != room || r.gap%h.align != 0 || r.gap > h.mem.Committed() {
		c.Add("record %d of %d bytes has room for %d and a gap of %d, want %d and a multiple of %d within what is committed", i, r.size, r.room, r.gap, room, h.align)
	}
}

// spares verifies invariant 2.
func (c *checker) spares() {
	h := c.h
	for i, from := h.spare, uint32(0); i != 0 && c.valid(i, "the spare link", from); i, from = h.records[i].next, i {
		if c.seen[i].spare {
			c.Add("record %d is spare twice", i)
			break
		}
		c.seen[i].spare = true
	}
	for i := uint32(head + 1); int(i) < len(h.records); i++ {
		r, s := &h.records[i], c.seen[i]
		if s.ring != r.live() || s.spare != (!r.live() && r.gen != 0) {
			c.Add("record %d of generation %d: in the ring is %t, spare is %t", i, r.gen, s.ring, s.spare)
		}
		if !r.live() && (r.locks != 0 || r.gap != 0 || r.size != 0 || r.room != 0 || r.off != 0) {
			c.Add("record %d is vacant but %+v", i, *r)
		}
	}
	if h.records[head].gen != 0 || h.records[0] != (record{}) {
		c.Add("a handle could name records 0 or %d: %+v, %+v", head, h.records[0], h.records[head])
	}
}

// gaps verifies invariant 4.
func (c *checker) gaps() {
	h := c.h
	for power, set := range h.bins.sets {
		if got := h.bins.powers>>power&1 == 1; got != (set != 0) {
			c.Add("power %d has bit %t and set %#x", power, got, set)
		}
	}
	for b, i := range h.bins.heads {
		c.list(uint(b), i)
	}
	for i := range h.records {
		if r := &h.records[i]; r.gap != 0 && c.seen[i].ring && !c.seen[i].gap {
			c.Add("the gap of record %d is in no bin", i)
		}
	}
}

// list verifies the list of bin b, which starts at record i.
func (c *checker) list(b uint, i uint32) {
	h := c.h
	if got := h.bins.sets[b/parts]>>(b%parts)&1 == 1; got != (i != 0) {
		c.Add("bin %d has bit %t and head %d", b, got, i)
	}
	for prev := uint32(0); i != 0 && c.valid(i, "nextGap", prev); {
		r := &h.records[i]
		if c.seen[i].gap {
			c.Add("the gap of record %d is in a bin twice", i)
			return
		}
		c.seen[i].gap = true
		if r.prevGap != prev || !c.seen[i].ring || r.gap < parts || binOf(r.gap) != b {
			c.Add("record %d with a gap of %d and prevGap %d is in bin %d behind %d", i, r.gap, r.prevGap, b, prev)
		}
		prev, i = i, r.nextGap
	}
}

// progress verifies invariant 6; ring has verified 5.
func (c *checker) progress() {
	h, m := c.h, c.h.moving
	if m.record == 0 {
		if m != (move{}) {
			c.Add("nothing moves, but %+v", m)
		}
		return
	}
	if uint(m.record) >= uint(len(h.records)) || m.record <= head || !c.seen[m.record].ring {
		c.Add("record %d moves, which is no live block", m.record)
		return
	}
	r := &h.records[m.record]
	if at := h.cursor; uint(at) < uint(len(h.records)) && r.off < h.records[at].end() {
		c.Add("record %d at %d moves in front of the cursor, record %d", m.record, r.off, at)
	}
	if r.locks != 0 || m.way == 0 || m.way%h.align != 0 || m.done > r.size || m.done == r.size && r.size != 0 {
		c.Add("record %d of %d bytes with %d locks is on its way: %+v", m.record, r.size, r.locks, m)
	}
}

// counters verifies invariant 7.
func (c *checker) counters() {
	h := c.h
	if h.used != c.used || h.requested != c.requested || h.used > h.peak {
		c.Add("%d bytes used for %d at a peak of %d; the blocks sum to %d and %d", h.used, h.requested, h.peak, c.used, c.requested)
	}
	if h.allocs-h.frees != c.live {
		c.Add("%d allocations less %d frees, but %d blocks are live", h.allocs, h.frees, c.live)
	}
}
