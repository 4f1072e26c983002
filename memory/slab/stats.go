package slab

import (
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
)

// ClassStats are the statistics of one size class.
type ClassStats struct {
	Size   uintptr // bytes of a block
	Live   int     // blocks in use, including blocks in caches
	Free   int     // blocks in spans of the class that are not live
	Bytes  uintptr // bytes of the spans of the class, a multiple of 1 KiB
	Allocs uint64  // blocks allocated since New; with a Cache each move of a block into the cache counts instead
}

// Classes yields the statistics of every size class, smallest first, until yield returns false. Classes does not
// allocate. If the largest size of [ClassTable.Sizes] for Config.MaxSize is no multiple of 4096, one more class
// follows. It serves only requests whose alignment is above 16. The function yield must not use the heap.
func (h *Heap) Classes(yield func(ClassStats) bool) {
	for i, size := range h.ladder.sizes {
		c, s := &h.classes[i], &h.shapes[i]
		live := c.carved - c.n
		if !yield(ClassStats{
			Size: uintptr(size), Live: int(live), Free: int(s.blocks - live),
			Bytes: uintptr(s.units) << unitShift, Allocs: c.allocs,
		}) {
			return
		}
	}
}

// Stats computes the statistics, without the blocks of Config.Large. Failures does not count errors of Large, either.
// With a [Cache], a block counts as allocated and live when it moves into the Cache, and as freed when it returns to
// the Central.
//
// Peak, the high-water mark, is an upper bound of the bytes that were in use at once: it also counts blocks that were
// free at that moment. The field Free is the committed memory outside live blocks, including the unusable ends of
// spans. Requested and Measured are 0, because the heap does not keep the requested sizes.
//
// LargestFree is the size of the largest class for which a free block, or space for a span, exists in committed memory.
// An empty span counts for its own class only, although Alloc can recycle it for another class. An Alloc of less than
// LargestFree can still commit memory or fail, because the smaller class may have no space.
//
// Cost: proportional to the number of classes. If there are gaps between spans, Stats may also read one byte for each
// KiB in use, for every class. Stats does not allocate.
func (h *Heap) Stats() memory.Stats {
	st := memory.Stats{
		Reserved: uint64(h.mem.Reserved()), Committed: uint64(h.mem.Committed() - h.mem.Dropped()),
		Peak: max(h.peak, h.carved), Failures: h.refused, LargestFree: uint64(h.largestFree()),
	}
	for i, size := range h.ladder.sizes {
		c := &h.classes[i]
		live := uint64(c.carved - c.n)
		st.Live += live
		st.InUse += live * uint64(size)
		st.Allocs += c.allocs
	}
	st.Frees = st.Allocs - st.Live
	st.Free = st.Committed - st.InUse
	return st
}

func (h *Heap) largestFree() uintptr {
	committed := h.mem.Committed() >> unitShift
	full := h.limit/unitGranules >= committed && h.vacant == 0 // then no class has space for a span
	for i := len(h.ladder.sizes) - 1; i >= 0; i-- {
		c := &h.classes[i]
		ok := c.n > 0 || c.bump != c.end
		if !ok && !full {
			step := spanStep(uintptr(h.ladder.sizes[i]))
			n, fair, _ := h.shapes[i].spanUnits()
			ok = align.Up(h.limit/unitGranules, step)+fair <= committed || n <= h.vacant && h.vacantRun(n, n, step).units > 0
		}
		if !ok {
			continue
		}
		if size := min(uintptr(h.ladder.sizes[i]), h.maxSize()); int(h.tab[(size-1)>>granuleShift]) == i {
			return size // a class for requests aligned to a page alone serves no other
		}
	}
	return 0
}
