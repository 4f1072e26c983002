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
func (h *Heap) Blocks(yield func(BlockInfo) bool) {
	for k := range h.poolCount {
		for i := h.blocks[k].next; i != uint32(k); i = h.blocks[i].next {
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
