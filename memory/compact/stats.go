package compact

import "github.com/strata-go/strata/memory"

// Stats reports the books, Peak exactly. InUse is rounded to Config.Align, and what is asked
// for is kept of every block: Measured is InUse. Free is what is committed and in no block;
// LargestFree is what Alloc would find without growing, exactly after a Compact that is done,
// and else among the first 32 gaps of those that are largest to within an eighth. Cost:
// constant.
func (h *Heap) Stats() memory.Stats {
	return memory.Stats{
		Reserved: uint64(h.mem.Reserved()), Committed: uint64(h.mem.Committed()),
		InUse: h.used, Peak: h.peak, Requested: h.requested, Measured: h.used,
		Live: h.allocs - h.frees, Allocs: h.allocs, Frees: h.frees, Failures: h.failures,
		LargestFree: uint64(h.largestGap()), Free: uint64(h.mem.Committed()) - h.used,
	}
}

// A Block is what a Handle names, and describes one for a map of the heap.
type Block struct {
	Offset uintptr // bytes from the heap's first byte
	Size   uintptr // bytes, whole multiples of Config.Align
	Free   bool
	Locked bool
}

// Blocks yields every block, free and live, in order of address, until yield returns false;
// they are the committed memory, without gaps, as long as the body leaves the heap alone. It may
// use it all the same, even Reset or Close it: what is yielded next is the first block as it is
// then that does not start before the end of the last one; what has moved from behind that to
// the front of it is not yielded, and free bytes that begin there are counted from there on.
// It does not allocate, and on a closed heap it yields nothing. Cost: a step per record, after
// a change as many again.
func (h *Heap) Blocks(yield func(Block) bool) {
	w := walk{record: head, version: h.version(), behind: true}
	for {
		b, ok := w.next(h)
		if !ok || !yield(b) {
			return
		}
	}
}

// version tells a map of the heap from what it was before a change.
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
