package compact

import "github.com/strata-go/strata/memory"

// Stats returns the statistics. Peak, the high-water mark, is exact. InUse counts block sizes rounded up to
// Config.Align. Measured equals InUse, because the heap records the requested size of every block. LargestFree is the
// largest request that Alloc can serve without growing: the size of the largest gap. If more than 32 gaps have about
// the largest size, LargestFree may be up to an eighth lower. On a closed heap the sizes are 0, Peak and the counts
// remain, and all blocks count as freed. Cost: constant.
func (h *Heap) Stats() memory.Stats {
	return memory.Stats{
		Reserved: uint64(h.mem.Reserved()), Committed: uint64(h.mem.Committed()),
		InUse: h.used, Peak: h.peak, Requested: h.requested, Measured: h.used,
		Live: h.allocs - h.frees, Allocs: h.allocs, Frees: h.frees, Failures: h.failures,
		LargestFree: uint64(h.largestGap()), Free: uint64(h.mem.Committed()) - h.used,
	}
}

// A Block describes a block for a map of the heap. It is also the type argument of Handle.
type Block struct {
	Offset uintptr // bytes from the heap's first byte
	Size   uintptr // bytes, whole multiples of Config.Align
	Free   bool
	Locked bool
}

// Blocks calls yield for every block, free and live, in order of address, until yield returns false. If yield does not
// change the heap, the blocks cover the committed memory without gaps. On a closed heap Blocks does not call yield.
// Blocks does not allocate.
//
// The function yield may change the heap, and even Reset or Close it. After a change the iteration continues at the end
// address of the block that was yielded last. A live block that begins before this address is not yielded. Of a free
// block that contains the address, only the part from the address on is yielded. Cost: a step for each block. After a
// change the iteration first passes all blocks before the address again.
func (h *Heap) Blocks(yield func(Block) bool) {
	w := walk{record: head, version: h.version(), behind: true}
	for {
		b, ok := w.next(h)
		if !ok || !yield(b) {
			return
		}
	}
}

// version changes whenever the map of the heap changes.
func (h *Heap) version() uint64 { return h.allocs + h.frees + h.shifts }

// A walk is a place in the map of a heap.
type walk struct {
	off     uintptr // every byte before it was yielded
	record  uint32  // the last one that was looked at, if version is the heap's
	behind  bool    // its block was; what is next is its gap
	version uint64
}

// next returns the next block.
func (w *walk) next(h *Heap) (Block, bool) {
	if h.base == nil {
		return Block{}, false
	}
	if v := h.version(); v != w.version {
		w.record, w.behind, w.version = head, true, v
	}
	for {
		r := &h.records[w.record]
		if !w.behind {
			w.behind = true
			if r.off >= w.off {
				w.off = r.end()
				return Block{Offset: r.off, Size: r.room, Locked: r.locks != 0}, true
			}
		}
		if end := r.end() + r.gap; end > w.off && r.gap != 0 {
			from := max(r.end(), w.off)
			w.off = end
			return Block{Offset: from, Size: end - from, Free: true}, true
		}
		if r.next == head {
			return Block{}, false
		}
		w.record, w.behind = r.next, false
	}
}
