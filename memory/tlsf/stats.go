package tlsf

import "github.com/strata-go/strata/memory"

// Stats reports the books exactly, Peak included. InUse is rounded to granules. What waits on
// quick stacks is merged first, so that LargestFree is there to be had: a heap that is asked often
// gains less by them. Cost: constant; with quick stacks proportional to the blocks that wait.
func (h *Heap) Stats() memory.Stats {
	h.flushQuick()
	s := h.counts.Stats(h.grain)
	s.LargestFree = uint64(h.largestFree())
	for k := range h.poolCount {
		s.Reserved += uint64(h.pools[k].mem.Reserved())
		s.Committed += uint64(h.pools[k].mem.Committed())
		s.Free += uint64(h.committed(&h.pools[k])) << h.grain // whole granules can be had
	}
	s.Free -= s.InUse
	return s
}

// BlockInfo describes a block for a map of the heap.
type BlockInfo struct {
	Pool   int     // 0 is the pool of New, then in the order of AddPool
	Offset uintptr // bytes from the pool's first byte
	Size   uintptr // bytes, whole granules
	Free   bool    // also while it waits on a quick stack
}

// Blocks yields every block, pool by pool in the order of addresses, until yield returns
// false; the blocks of a pool are its committed memory, without gaps. The heap must not be
// used in between. It does not allocate, and on a closed heap it yields nothing.
func (h *Heap) Blocks(yield func(BlockInfo) bool) { h.BlocksFrom(0, 0, yield) }

// BlocksFrom is Blocks from the block on that holds byte offset of a pool, so that a large heap can be
// looked at a part at a time: where one call ended the next may begin, whatever the heap has done
// between. An offset beyond what is committed begins with the pool behind, a pool that there is not yields nothing.
// It panics with a *memory.Misuse where pool is negative. Cost: that of Blocks; to begin at a live block is
// constant, elsewhere it takes a look at each granule up to the next one.
func (h *Heap) BlocksFrom(pool int, offset uintptr, yield func(BlockInfo) bool) {
	if pool < 0 {
		panic(&memory.Misuse{Package: "tlsf", Op: "BlocksFrom", Reason: "there is no pool below 0"})
	}
	for k := pool; k < h.poolCount; k++ {
		i := h.blocks[k].next
		if offset > 0 {
			i = h.holding(k, offset)
			offset = 0
		}
		for ; i != uint32(k); i = h.blocks[i].next {
			x := &h.blocks[i]
			if !yield(BlockInfo{
				Pool: k, Offset: h.grain.Bytes(x.off), Size: h.grain.Bytes(x.size),
				Free: x.state != live,
			}) {
				return
			}
		}
	}
}

// holding returns the block that holds byte offset of pool k, or the pool's anchor.
func (h *Heap) holding(k int, offset uintptr) uint32 {
	pl := &h.pools[k]
	g := uint64(offset >> h.grain)
	if g >= uint64(h.committed(pl)) {
		return uint32(k)
	}
	i := uint32(k) // the one behind, or the end of the ring
	for _, j := range pl.starts[g:] {
		if j != 0 {
			i = j
			break
		}
	}
	if i == uint32(k) || uint64(h.blocks[i].off) > g {
		for i = h.blocks[i].prev; uint64(h.blocks[i].off) > g; i = h.blocks[i].prev {
		}
	}
	return i
}
