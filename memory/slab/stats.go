package slab

import (
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
)

// ClassStats are the books of one size class.
type ClassStats struct {
	Size   uintptr // bytes of a block
	Live   int     // blocks in use
	Free   int     // blocks ready in spans that the class owns
	Bytes  uintptr // in these spans, a multiple of 1 KiB
	Allocs uint64  // successful allocations since New
}

// Classes yields every size class, smallest first. It does not allocate. The last class may
// be one that only requests aligned to a page use.
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

// Stats derives the books from the depths of the stacks. Peak is an upper bound: the most bytes
// that were ever carved at once, up to 32 blocks a class above what was in use. Requests are not
// kept, so Requested and Measured are 0. Free is what is committed and in no live block, the
// rests of spans that no block fits included. LargestFree is the largest class that has a free
// block or room for a span in committed memory, at its end for one that blocks fill well; spans
// that are empty count with the class that they belong to, though Alloc gives them to another
// one where memory is refused. Blocks of Large are in none of it. Cost: proportional to the
// classes, and to the units where some are vacant.
func (h *Heap) Stats() memory.Stats {
	st := memory.Stats{
		Reserved: uint64(h.mem.Reserved()), Committed: uint64(h.mem.Committed()),
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
	for i := len(h.ladder.sizes) - 1; i >= 0; i-- {
		c, step := &h.classes[i], spanStep(uintptr(h.ladder.sizes[i]))
		n, fair, _ := h.shapes[i].spanUnits()
		ok := c.n > 0 || c.bump != c.end || align.Up(h.limit/unitGranules, step)+fair <= committed
		if !ok && n <= h.vacant {
			ok = h.vacantRun(n, n, step).units > 0
		}
		if size := min(uintptr(h.ladder.sizes[i]), h.maxSize()); ok && int(h.tab[(size-1)>>granuleShift]) == i {
			return size // a class for requests aligned to a page alone serves no other
		}
	}
	return 0
}
