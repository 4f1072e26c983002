package tlsf

import (
	"errors"
	"fmt"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/findings"
	"github.com/strata-go/strata/memory/internal/tally"
)

// Check verifies the heap's metadata and returns the inconsistencies, joined into one error, or nil. After 32 it only
// counts the others. On a closed heap Check returns nil. Check ends even if links form a cycle. Cost: proportional to
// the committed granules, and to the number of pools times the highest number of blocks so far. Check allocates 4 bytes
// for each block descriptor in the Go heap.
func (h *Heap) Check() error {
	if h.closed {
		return nil
	}
	c := checker{List: findings.List{Of: "tlsf"}, h: h, pools: min(max(h.poolCount, 0), maxPools), seen: make([]seen, len(h.blocks))}
	c.configuration()
	for k := range c.pools {
		c.ring(k)
		c.starts(k)
	}
	c.lists()
	c.drops()
	c.quick()
	c.descriptors()
	h.counts.Check(c.sums, "granule", c.Add)
	return c.Err()
}

// checker is the state of one Check.
type checker struct {
	findings.List
	h     *Heap
	pools int
	seen  []seen // by descriptor

	sums    tally.Sums // over the live blocks of the rings
	waiting uint64     // granules
	dropped uint64     // granules
}

// seen counts where a descriptor was met: each must be in one ring or on the list of spares,
// and a free or waiting one on one list besides.
type seen struct{ ring, list, quick, spare uint8 }

// valid reports whether a link leads to a descriptor, and fails otherwise: from is where it
// was found, a format of two numbers.
func (c *checker) valid(i uint32, from string, a, b int) bool {
	if uint64(i) < uint64(len(c.h.blocks)) { // an int may have 32 bits, one of them a sign
		return true
	}
	c.Add("%s leads to descriptor %d of %d", fmt.Sprintf(from, a, b), i, len(c.h.blocks))
	return false
}

// configuration verifies invariant 1.
func (c *checker) configuration() {
	h := c.h
	if granule := h.grain.Bytes(1); granule != h.config.Granule {
		c.Add("a granule of %d bytes is not the configured one of %d", granule, h.config.Granule)
	}
	if want := min(h.config.Granule, memory.MaxAlign); h.fastAlign != want {
		c.Add("alignments up to %d take the fast path, want %d", h.fastAlign, want)
	}
	if want := h.grain.Count(farBytes); h.far != want {
		c.Add("requests of %d granules are cut from the far end, want %d", h.far, want)
	}
	if h.poolCount < 1 || h.poolCount > maxPools {
		c.Add("%d pools; from 1 to %d are possible", h.poolCount, maxPools)
	}
	var most uint64
	var reserved uintptr
	for k := range c.pools {
		pl := &h.pools[k]
		if pl.base == nil || pl.base != pl.mem.Base() || len(pl.starts) < int(h.committed(pl)) || uint64(len(pl.starts)) > uint64(pl.mem.Reserved())>>h.grain {
			c.Add("pool %d at %p with %d granules is not its reservation of %d bytes at %p", k, pl.base, len(pl.starts), pl.mem.Reserved(), pl.mem.Base())
		}
		reserved += pl.mem.Reserved()
		most = max(most, uint64(pl.mem.Reserved()>>h.grain)<<h.grain)
	}
	for k := range h.pools { // those that were not added have nothing
		if err := errors.Join(h.pools[k].mem.Check(), h.pools[k].table.Check(h.pools[k].mem.Reserved()>>h.grain*startBytes)); err != nil {
			c.Add("pool %d: %w", k, err)
		}
	}
	if err := h.table.Check((anchors + reserved>>h.grain) * blockBytes); err != nil {
		c.Add("the descriptors: %w", err)
	}
	if want := min(most, maxBytes); uint64(h.limit) != want || h.outgrown > h.limit {
		c.Add("sizes up to %d are served, want %d; one of %d was refused in place", h.limit, want, h.outgrown)
	}
	fast := h.limit
	if h.outgrown != 0 {
		fast = h.outgrown - 1
	}
	if h.fastSize != fast {
		c.Add("sizes up to %d take the fast path, want %d", h.fastSize, fast)
	}
	if h.quick != nil && h.quick.budget != uint64(h.config.QuickBytes)>>h.grain {
		c.Add("the quick stacks' budget is %d granules, configured are %d bytes", h.quick.budget, h.config.QuickBytes)
	}
}

// ring verifies invariants 2, 3 and 5 for pool k.
func (c *checker) ring(k int) {
	h, end := c.h, uint32(k)
	prev, off := end, uint32(0)
	for i := h.blocks[end].next; ; {
		if !c.valid(i, "pool %d: next of descriptor %d", k, int(prev)) {
			return
		}
		x := &h.blocks[i]
		if x.prev != prev {
			c.Add("pool %d: descriptor %d has prev %d, but follows %d", k, i, x.prev, prev)
		}
		if i == end {
			break
		}
		if c.seen[i].ring++; c.seen[i].ring > 1 {
			c.Add("pool %d: descriptor %d is in a ring twice", k, i)
			return
		}
		if x.off != off || x.size == 0 || int(x.pool) != k {
			c.Add("pool %d: descriptor %d has offset %d, size %d, pool %d; it must start at granule %d", k, i, x.off, x.size, x.pool, off)
		}
		if x.state == free && h.blocks[prev].state == free {
			c.Add("pool %d: descriptors %d and %d are neighbours and both free", k, prev, i)
		}
		c.block(i, x)
		prev, off, i = i, x.off+x.size, x.next
	}
	if off != h.committed(&h.pools[k]) {
		c.Add("pool %d: the ring ends at granule %d, %d are committed", k, off, h.committed(&h.pools[k]))
	}
}

// block adds a block of a ring to the sums and verifies invariant 5.
func (c *checker) block(i uint32, x *block) {
	h := c.h
	if uint32(x.bin) != binOf(x.size) && (x.state != free || x.bin < roomBin) {
		c.Add("descriptor %d of %d granules has bin %d, want %d", i, x.size, x.bin, binOf(x.size))
	}
	switch x.state {
	case free:
	case waiting:
		c.waiting += uint64(x.size)
	case dropped:
		c.dropped += uint64(x.size)
		c.hole(i, x)
	case live:
		c.sums.Add(x.size, uintptr(x.req))
		n := h.grain.Count(uintptr(x.req))
		if most := binSize(binAbove(n)); x.size < n || x.size > n && (h.quick == nil || binOf(x.size) > binOf(most)) {
			c.Add("descriptor %d holds %d bytes in %d granules", i, x.req, x.size)
		}
	default:
		c.Add("descriptor %d in a ring has state %d", i, x.state)
	}
}

// starts verifies invariant 4 for pool k.
func (c *checker) starts(k int) {
	h := c.h
	for g, i := range h.pools[k].starts {
		if i == 0 {
			continue
		}
		if !c.valid(i, "pool %d: granule %d", k, g) {
			continue
		}
		if x := &h.blocks[i]; x.state != live || int(x.off) != g || int(x.pool) != k {
			c.Add("pool %d: granule %d names descriptor %d, which is no live block there", k, g, i)
		}
	}
	for i := range h.blocks {
		x := &h.blocks[i]
		if x.state == live && int(x.pool) == k && c.seen[i].ring == 1 &&
			(uint64(x.off) >= uint64(len(h.pools[k].starts)) || h.pools[k].starts[x.off] != uint32(i)) {
			c.Add("pool %d: granule %d does not name the live block %d", k, x.off, i)
		}
	}
}

// lists verifies invariants 6 and 7.
func (c *checker) lists() {
	s := &c.h.bins
	for l, lists := range s.lists {
		if got := s.levels>>l&1 == 1; got != (lists != 0 && l != roomLevel) {
			c.Add("level %d has bit %t and lists %#x", l, got, lists)
		}
		if lists>>binsPer != 0 {
			c.Add("level %d has lists %#x beyond %d", l, lists, binsPer)
		}
	}
	for b := range uint32(binCount) {
		if b == dropBin {
			continue
		}
		head := c.h.blocks[b].nextFree
		if got := s.lists[b/binsPer]>>(b%binsPer)&1 == 1; got != (head != b) {
			c.Add("bin %d has bit %t and head %d", b, got, head)
		}
		c.list(b, head)
	}
}

func (c *checker) list(b, i uint32) {
	for prev := b; ; {
		if !c.valid(i, "bin %d: nextFree of descriptor %d", int(b), int(prev)) {
			return
		}
		x := &c.h.blocks[i]
		if x.prevFree != prev {
			c.Add("bin %d: descriptor %d has prevFree %d, but follows %d", b, i, x.prevFree, prev)
		}
		if i == b {
			return
		}
		if c.seen[i].list++; c.seen[i].list > 1 {
			c.Add("descriptor %d is on a list twice", i)
			return
		}
		if x.state != free || uint32(x.bin) != b {
			c.Add("descriptor %d on the list of bin %d has state %d, bin %d", i, b, x.state, x.bin)
		}
		if b >= roomBin && prev != b {
			c.Add("descriptor %d is not the only room in bin %d", i, b)
		}
		prev, i = i, x.nextFree
	}
}

// quick verifies invariant 8.
func (c *checker) quick() {
	q := c.h.quick
	if q == nil {
		return
	}
	for b, i := range q.heads {
		for last := uint32(0); i != 0 && c.valid(i, "quick stack %d: nextFree behind %d", b, int(last)); {
			x := &c.h.blocks[i]
			if c.seen[i].quick++; c.seen[i].quick > 1 {
				c.Add("descriptor %d is on a quick stack twice", i)
				break
			}
			if x.state != waiting || int(x.bin) != b || binOf(x.size) != uint32(b) {
				c.Add("descriptor %d on quick stack %d has state %d, bin %d, size %d", i, b, x.state, x.bin, x.size)
			}
			last, i = i, x.nextFree
		}
	}
	if q.held != c.waiting || q.held > q.budget {
		c.Add("quick stacks hold %d granules of %d, their blocks sum to %d", q.held, q.budget, c.waiting)
	}
}

// descriptors verifies invariant 9 and what is left of 6 and 8: that no block is missing
// from its list.
func (c *checker) descriptors() {
	h := c.h
	for i, last := h.spare, uint32(0); i != 0 && c.valid(i, "spare descriptors: nextFree of %d, head %d", int(last), int(h.spare)); last, i = i, h.blocks[i].nextFree {
		if c.seen[i].spare++; c.seen[i].spare > 1 {
			c.Add("descriptor %d is spare twice", i)
			break
		}
	}
	for i := range h.blocks {
		if x := &h.blocks[i]; (x.state == anchor) != (i < anchors) || x.state == anchor && (x.off != 0 || x.size != 0) {
			c.Add("descriptor %d of %d anchors is %+v", i, anchors, *x)
		}
		want := seen{ring: 1}
		switch h.blocks[i].state {
		case anchor:
			want = seen{}
		case free, dropped:
			want.list = 1
		case waiting:
			want.quick = 1
		case spare:
			want = seen{spare: 1}
		}
		if c.seen[i] != want {
			c.Add("descriptor %d in state %d was met in %+v, want %+v", i, h.blocks[i].state, c.seen[i], want)
		}
	}
}
