package tlsf

// hole verifies that the memory of a dropped block was returned.
func (c *checker) hole(i uint32, x *block) {
	h := c.h
	if int(x.pool) >= c.pools {
		return // reported already
	}
	from, to := h.grain.Bytes(x.off), h.grain.Bytes(x.off+x.size)
	if first, last := h.pools[x.pool].mem.NextHole(from); first != from || last < to {
		c.Add("descriptor %d is dropped from byte %d to %d, the first hole there is from %d to %d", i, from, to, first, last)
	}
	if !c.valid(x.prev, "pool %d: prev of descriptor %d", int(x.pool), int(i)) {
		return
	}
	if y := &h.blocks[x.prev]; y.state == dropped {
		c.Add("descriptors %d and %d are neighbours and both dropped", x.prev, i)
	}
}

// drops verifies the list of dropped blocks, and that no other memory was returned.
func (c *checker) drops() {
	h, n, last := c.h, 0, uint32(dropBin)
	for i := h.blocks[dropBin].nextFree; i != dropBin; last, i = i, h.blocks[i].nextFree {
		if !c.valid(i, "dropped blocks: nextFree of %d, number %d", int(last), n) {
			return
		}
		x := &h.blocks[i]
		if x.prevFree != last || x.state != dropped {
			c.Add("descriptor %d on the list of dropped blocks has state %d and prevFree %d, but follows %d", i, x.state, x.prevFree, last)
		}
		if c.seen[i].list++; c.seen[i].list > 1 {
			c.Add("descriptor %d is on the list of dropped blocks twice", i)
			return
		}
		n++
	}
	if got := h.blocks[dropBin].prevFree; got != last {
		c.Add("the last dropped block is %d, noted %d", last, got)
	}
	if n != h.drops || n > maxDrops {
		c.Add("%d blocks are dropped, noted %d, at most %d may be", n, h.drops, maxDrops)
	}
	returned := uint64(0)
	for k := range c.pools {
		returned += uint64(h.pools[k].mem.Dropped())
	}
	if c.dropped<<h.grain != returned {
		c.Add("%d bytes were returned, the dropped blocks have %d", returned, c.dropped<<h.grain)
	}
}
