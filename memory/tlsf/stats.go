package tlsf

import "github.com/strata-go/strata/memory"

// Stats reports the books, in constant time and exactly, Peak included. InUse is rounded to
// granules; what waits on quick stacks is not in use. LargestFree does not count it either.
func (h *Heap) Stats() memory.Stats {
	s := memory.Stats{
		InUse: h.used << h.shift, Peak: h.peak << h.shift,
		Live: h.allocs - h.frees, Allocs: h.allocs, Frees: h.frees, Failures: h.failures,
		Requested: h.requested, LargestFree: uint64(h.largestFree()),
	}
	for k := range h.poolCount {
		s.Reserved += uint64(h.pools[k].mem.Reserved())
		s.Committed += uint64(h.pools[k].mem.Committed())
	}
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
				Pool: k, Offset: uintptr(x.off) << h.shift, Size: uintptr(x.size) << h.shift,
				Free: x.state != live,
			}) {
				return
			}
		}
	}
}
