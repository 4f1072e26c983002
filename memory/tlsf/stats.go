package tlsf

import "github.com/strata-go/strata/memory"

// Stats returns exact statistics, including Peak, the high-water mark. InUse is rounded up to granules. Stats
// coalesces the blocks that wait because of Config.QuickBytes first, so frequent calls reduce the gain of QuickBytes.
// After Close all blocks count as freed, and Reserved, Committed and Free contain only memory that could not be
// released yet. Cost: constant, plus the number of waiting blocks.
func (h *Heap) Stats() memory.Stats {
	h.flushQuick()
	s := h.counts.Stats(h.grain)
	s.LargestFree = uint64(h.largestFree())
	for k := range h.poolCount {
		s.Reserved += uint64(h.pools[k].mem.Reserved())
		s.Committed += uint64(h.pools[k].mem.Committed())
		s.Free += uint64(h.committed(&h.pools[k])) << h.grain // in whole granules
	}
	returned := uint64(h.dropped())
	s.Committed -= returned
	s.Free -= s.InUse + returned
	return s
}

// BlockInfo describes a block for a map of the heap.
type BlockInfo struct {
	Pool   int     // 0 is the pool of New, then in the order of AddPool
	Offset uintptr // bytes from the pool's first byte
	Size   uintptr // bytes, whole granules
	Free   bool    // not live: also a block that waits because of QuickBytes, and memory that TrimStep has returned
}

// Blocks calls yield for every block, live and free, until yield returns false. The blocks are sorted by pool, and
// within a pool by address. They follow each other without gaps from the pool's first byte to the end of its committed
// memory. The function yield must not use the heap. On a closed heap Blocks does not call yield. Blocks does not
// allocate. Cost: proportional to the blocks yielded.
func (h *Heap) Blocks(yield func(BlockInfo) bool) { h.BlocksFrom(0, 0, yield) }

// BlocksFrom is Blocks, but starts with the block that contains the byte at offset in the pool. A large heap can thus
// be read in parts: start the next call where the last call stopped, even if the heap was used in between. If offset is
// beyond the committed memory, BlocksFrom starts with the next pool. If the pool does not exist, BlocksFrom does not
// call yield. If pool is negative, BlocksFrom panics with a *memory.Misuse. If a live block starts at offset, finding
// it takes constant time. If not, the time is proportional to the granules up to the next live block or the end of the
// pool.
func (h *Heap) BlocksFrom(pool int, offset uintptr, yield func(BlockInfo) bool) {
	if pool < 0 {
		panic(&memory.Misuse{Package: "tlsf", Op: "BlocksFrom", Reason: "there is no pool below 0"})
	}
	if h.closed { // its memory may still be committed, if Close has failed
		return
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
