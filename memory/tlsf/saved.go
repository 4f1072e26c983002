package tlsf

import (
	"math"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/internal/saved"
	"github.com/strata-go/strata/memory/save"
)

// SaveState saves the live blocks, and the metadata that decides where the next block lies. This metadata includes the
// order of the free lists, the blocks that wait because of Config.QuickBytes, and the age of blocks. Free memory is not
// saved, except in debug builds, where it contains a pattern.
//
// If a pool was added since the state was saved, loading fails with an error that wraps save.ErrLayout. If a load
// cannot commit the memory that it needs, the error wraps the source's error. If the heap is closed, saving and loading
// fail with an error that wraps memory.ErrClosed. During a call of a page source they fail with an error that wraps
// save.ErrBusy.
func (h *Heap) SaveState(c *save.Coder) { h.SaveStateExcept(c, nil) }

// SaveStateExcept is [Heap.SaveState] without the contents of the live blocks for which the function scratch returns
// true. After a load such a block is live, and its contents are undefined. Debug builds save all contents. The function
// scratch must not use the heap. If scratch is nil, all contents are saved. A state that was saved with nil must be
// loaded with nil, and one that was saved with a function must be loaded with a function.
func (h *Heap) SaveStateExcept(c *save.Coder, scratch func(p unsafe.Pointer) bool) {
	if h.closed {
		c.Fail(memory.ErrClosed)
		return
	}
	c.Same("the granule", uint64(h.config.Granule))
	c.Same("the number of pools", uint64(h.poolCount))
	for k := range h.poolCount {
		if c.Failed() {
			return
		}
		h.saveMemory(c, k)
	}
	if c.Failed() {
		return
	}
	c.Same("Config.QuickBytes", uint64(h.config.QuickBytes))
	if h.quick != nil {
		save.Var(c, h.quick)
	}
	save.Var(c, &h.counts)
	save.Var(c, &h.bins)
	var w [6]uint64 // the compiler would write a literal elsewhere first, and copy it
	w[0], w[1], w[2] = uint64(h.spare), uint64(h.epoch), uint64(h.turn)
	w[3], w[4], w[5] = uint64(h.drops), uint64(h.outgrown), uint64(h.fastSize)
	if c.Words(w[:]); c.Loading() {
		h.spare, h.epoch, h.turn = uint32(w[0]), uint32(w[1]), uint32(w[2])
		h.drops, h.outgrown, h.fastSize = int(w[3]), uintptr(w[4]), uintptr(w[5])
	}
	h.saveBlocks(c)
	for k := range h.poolCount {
		if c.Failed() {
			return
		}
		h.saveHoles(c, k)
		saved.Lives(c, &h.lives[k])
	}
	if c.BeginContent() {
		if invariant.Debug {
			for k := range h.poolCount {
				saved.Committed(c, &h.pools[k].mem, math.MaxUint)
			}
		} else {
			h.saveContent(c, scratch)
		}
		c.EndContent()
	}
}

// saveMemory visits the committed bytes of pool k. The fit lengthens the starts for what it commits.
func (h *Heap) saveMemory(c *save.Coder, k int) {
	c.EnterAt("pool", k)
	defer c.Leave()
	pl := &h.pools[k]
	pl.mem.SaveState(c)
	if h.failEnded(c); !c.Fitting() || c.Failed() {
		return
	}
	c.Fail(h.reach(pl, uint32(pl.mem.Fitted()>>h.grain)))
}

// failEnded makes a pass fail if the source of a pool has ended in a call of the pass.
func (h *Heap) failEnded(c *save.Coder) {
	if h.closed {
		c.Fail(memory.ErrClosed)
	}
}

// extendTo makes what is committed behind the last block of pool k free memory. If nothing is, the free lists keep their
// order.
func (h *Heap) extendTo(k int) {
	if x := &h.blocks[h.blocks[k].prev]; h.committed(&h.pools[k]) > x.off+x.size {
		h.extend(k, h.committed(&h.pools[k]))
	}
}

// saveBlocks visits the descriptors. The starts follow from them.
func (h *Heap) saveBlocks(c *save.Coder) {
	h.markStarts(c, false)
	if save.List(c, &h.blocks); !c.Loading() {
		return
	}
	h.markStarts(c, true)
	for k := range h.poolCount { // where the source has not decommitted what was committed since
		h.extendTo(k)
	}
}

// markStarts sets or clears the starts of all live blocks.
func (h *Heap) markStarts(c *save.Coder, set bool) {
	if !c.Loading() {
		return
	}
	for i := anchors; i < len(h.blocks); i++ {
		x := &h.blocks[i]
		if x.state != live {
			continue
		}
		start := uint32(0)
		if set {
			start = uint32(i)
		}
		h.pools[x.pool&(maxPools-1)].starts[x.off] = start
	}
}

// saveHoles visits the dropped pages of pool k.
func (h *Heap) saveHoles(c *save.Coder, k int) {
	mem := &h.pools[k].mem
	mem.SaveHoles(c, func(from, to uintptr) {
		if !h.closed {
			lo, end := uint32(from>>h.grain), uint32(to>>h.grain)
			h.undrop(h.droppedIn(k, lo, end), lo, end)
		}
	})
	h.failEnded(c)
}

// saveContent visits the requested bytes of the live blocks, and of neighbors also what lies between.
func (h *Heap) saveContent(c *save.Coder, scratch func(p unsafe.Pointer) bool) {
	r, joined := saved.Run{C: c}, !c.Canonical()
	for i := anchors; i < len(h.blocks); i++ {
		x := &h.blocks[i]
		if x.state != live {
			continue
		}
		base, from := h.pools[x.pool&(maxPools-1)].base, h.grain.Bytes(x.off)
		if scratch != nil && c.Flag(scratch(unsafe.Add(base, from))) {
			continue
		}
		end := from + uintptr(x.req)
		if next := h.grain.Bytes(x.off + x.size); joined && 4*(next-end) <= end-from {
			end = next // a quarter more bytes at most
		}
		r.Add(base, from, end)
	}
	r.End()
}
