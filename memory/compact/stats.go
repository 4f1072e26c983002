package compact

import "github.com/strata-go/strata/memory"

// Stats reports the books, Peak exactly. InUse is rounded to Config.Align. Cost: proportional
// to the gaps of the bin of the largest one.
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
// they are the committed memory, without gaps. The heap must not be used in between. It does
// not allocate, and on a closed heap it yields nothing.
func (h *Heap) Blocks(yield func(Block) bool) {
	for i := uint32(head); ; {
		r := &h.records[i]
		if i != head && !yield(Block{Offset: r.off, Size: r.room, Locked: r.locks != 0}) {
			return
		}
		if r.gap != 0 && !yield(Block{Offset: r.end(), Size: r.gap, Free: true}) {
			return
		}
		if i = r.next; i == head {
			return
		}
	}
}
