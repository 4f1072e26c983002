package freelist

import (
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/findings"
	"github.com/strata-go/strata/memory/internal/tally"
)

// Check returns the errors in the metadata, joined into one, or nil. After 32 it only counts the others. On a closed
// heap Check returns nil. Cost: proportional to the reserved granules. Check allocates only for errors.
func (h *Heap) Check() error {
	if h.base == nil {
		return nil
	}
	c := checker{List: findings.List{Of: "freelist"}, h: h}
	c.configuration()
	c.order()
	c.tiling()
	h.counts.Check(c.sums, "granule", c.Add)
	return c.Err()
}

// checker is the state of one Check.
type checker struct {
	findings.List
	h *Heap

	sums tally.Sums // over the live map
}

// configuration verifies invariants 1 and 6.
func (c *checker) configuration() {
	h := c.h
	if err := h.mem.Check(); err != nil {
		c.Add("%w", err)
	}
	granule := h.grain.Bytes(1)
	if granule < minGranule || granule > maxGranule || h.align != min(granule, memory.MaxAlign) {
		c.Add("a granule of %d bytes with alignments up to %d does not come from a configuration", granule, h.align)
	}
	if h.policy > WorstFit {
		c.Add("%v: want FirstFit, NextFit, BestFit or WorstFit", h.policy)
	}
	if h.base != h.mem.Base() || uint64(len(h.live)) != uint64(h.mem.Reserved())>>h.grain ||
		uint64(h.limit) != min(uint64(h.mem.Reserved()), maxBytes) {
		c.Add("base %p, %d granules and requests up to %d are not the reservation of %d bytes at %p", h.base, len(h.live), h.limit, h.mem.Reserved(), h.mem.Base())
	}
	if h.rover > h.committed() {
		c.Add("rover is at granule %d, %d are committed", h.rover, h.committed())
	}
}

// order verifies invariant 2.
func (c *checker) order() {
	end := uint64(0)
	for k, r := range c.h.runs {
		if r.size == 0 || k > 0 && uint64(r.off) <= end {
			c.Add("run %d of %d granules at %d is empty, or does not lie apart from the one that ends at %d", k, r.size, r.off, end)
		}
		end = uint64(r.off) + uint64(r.size)
	}
}

// tiling verifies invariants 3 and 4: it visits the live map and the runs together.
func (c *checker) tiling() {
	h := c.h
	runs, end := h.runs, uint64(0) // where the last one that was visited ends
	for off := uint64(0); off < uint64(len(h.live)); off++ {
		if off += c.inside(off, end, runs); off == uint64(len(h.live)) {
			break
		}
		isRun := len(runs) > 0 && uint64(runs[0].off) == off
		n := h.live[off]
		if (isRun || n != 0) && off < end {
			c.Add("at granule %d something starts inside what reaches to %d", off, end)
		}
		if !isRun && n == 0 && off >= end && off < uint64(h.committed()) {
			c.Add("granule %d is neither live nor free", off)
			end = off + 1
		}
		if n != 0 {
			size := h.grain.Count(uintptr(n - 1))
			c.sums.Add(size, uintptr(n-1))
			end = max(end, off+uint64(size))
		}
		if isRun {
			if n != 0 {
				c.Add("granule %d starts a live block and a free run", off)
			}
			end = max(end, off+uint64(runs[0].size))
			runs = runs[1:]
		}
	}
	if len(runs) > 0 {
		c.Add("%d runs, from the one at granule %d on, are out of order or beyond the heap", len(runs), runs[0].off)
	}
	if end != uint64(h.committed()) {
		c.Add("blocks and runs end at granule %d, %d are committed", end, h.committed())
	}
}

// inside returns how many granules from off on need no look: nothing starts there, and the last one that was visited
// reaches beyond them, or they are not committed.
func (c *checker) inside(off, end uint64, runs []run) uint64 {
	stop := end
	if off >= uint64(c.h.committed()) {
		stop = uint64(len(c.h.live))
	}
	if len(runs) > 0 && uint64(runs[0].off) >= off {
		stop = min(stop, uint64(runs[0].off))
	}
	if stop <= off {
		return 0
	}
	rest := c.h.live[off:min(stop, uint64(len(c.h.live)))]
	for i, n := range rest {
		if n != 0 {
			return uint64(i)
		}
	}
	return uint64(len(rest))
}
