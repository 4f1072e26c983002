package main

import (
	"errors"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A heap models the allocator types whose blocks are freed one by one in any order.
type heap struct {
	heapConfig
	*shadow
	want   int    // how many live blocks the current phase steers for
	oom    uint64 // requests refused because memory was exhausted
	peak   uint64 // most bytes in use that were seen
	corpse block  // one that was freed, for a double free
	// away, unless nil, has the live blocks that were sent to be freed: the heap must not be reset, and may be full
	// while the rest is empty.
	away  map[unsafe.Pointer]block
	alien [64]byte // memory of no allocator
}

// A heapConfig is what an allocator type guarantees beyond memory.Allocator.
type heapConfig struct {
	a      memory.Allocator
	shift  uint    // blocks start and end on units of 1<<shift bytes
	most   uintptr // largest size that is requested as valid
	aligns uintptr // largest alignment that is requested
	blocks int     // live blocks are kept below this
	exact  bool    // Free refuses a size that is wrong by one byte
	// cost is the most that a block may count in Stats.InUse.
	cost func(size, align uintptr) uintptr
	// slack is how much InUse may exceed its blocks: freed ones that pin a region, canaries.
	slack func() uint64
}

func newHeap(s *segment, cfg heapConfig) *heap {
	return &heap{heapConfig: cfg, shadow: newShadow(s, cfg.shift)}
}

func (h *heap) step() {
	s := h.s
	if s.one(4096) || h.want == 0 {
		h.want = 1 + s.n(h.blocks)
	}
	switch roll := s.n(1000); {
	case roll < 40:
		h.resize()
	case roll < 44:
		h.misuse()
	case roll < 46:
		h.unreasonable()
	case roll == 46 && s.one(20):
		h.reset()
	case roll == 47 && s.one(4):
		h.trim()
	case len(h.live) == 0 || (len(h.live) < h.want) == (roll%4 != 0):
		h.alloc()
	default:
		h.free(s.n(len(h.live)))
	}
}

func (h *heap) alloc() {
	size, align := h.s.size(h.most), h.s.align(h.aligns)
	h.s.note("Alloc size align", 0, uint64(size), uint64(align))
	p, err := h.a.Alloc(size, align)
	if err != nil {
		h.refusedForWant(err, size, align)
		return
	}
	h.born(p, size, align)
}

// refusedForWant looks at an error of Alloc: it must be a shortage, and a real one.
func (h *heap) refusedForWant(err error, size, align uintptr) {
	if !errors.Is(err, memory.ErrOutOfMemory) {
		h.s.failf("Alloc(%d, %d): %v", size, align, err)
	}
	h.oom++
	if len(h.live) == 0 && h.away == nil {
		h.s.failf("Alloc(%d, %d) on an empty heap: %v", size, align, err)
	}
	st := h.stats()
	if st.Failures < h.oom {
		h.s.failf("%d requests were refused, the books say %d", h.oom, st.Failures)
	}
	if h.exact && align == 1 && st.LargestFree > 0 && size <= uintptr(st.LargestFree) {
		h.s.failf("Alloc(%d, 1): %v; yet LargestFree is %d", size, err, st.LargestFree)
	}
}

// largest allocates what Stats reports as available without more memory.
func (h *heap) largest() {
	before := h.stats()
	if before.LargestFree == 0 {
		return
	}
	h.s.note("Alloc LargestFree", 0, before.LargestFree, 1)
	p, err := h.a.Alloc(uintptr(before.LargestFree), 1)
	h.s.must("Alloc of LargestFree", err)
	h.born(p, uintptr(before.LargestFree), 1)
	if after := h.stats(); after.Committed != before.Committed {
		h.s.failf("LargestFree is %d, and took committed memory from %d to %d", before.LargestFree, before.Committed, after.Committed)
	}
	h.free(len(h.live) - 1)
}

func (h *heap) free(i int) {
	b := h.dies(i)
	h.s.note("Free p size id", uintptr(b.p), uint64(b.size), b.id)
	if any, ok := h.a.(memory.AnyFreer); ok && h.s.one(4) {
		any.FreeAny(b.p)
	} else {
		h.a.Free(b.p, b.size)
	}
	h.corpse = b
}

func (h *heap) resize() {
	r, ok := h.a.(memory.Resizer)
	if !ok || len(h.live) == 0 {
		return
	}
	i, size := h.s.n(len(h.live)), max(h.s.size(h.most), 1)
	b := h.live[i]
	if b.size == 0 {
		return
	}
	h.verify(b)
	h.s.note("Resize p old new", uintptr(b.p), uint64(b.size), uint64(size))
	switch r.Resize(b.p, b.size, size) {
	case true:
		h.resized(i, size)
	case false:
		h.verify(b)
	}
}

func (h *heap) reset() {
	if r, ok := h.a.(memory.Resetter); ok && h.away == nil {
		h.s.note("Reset", 0, 0, 0)
		h.diesAll(0)
		r.Reset()
		h.corpse = block{}
		h.compareStats()
	}
}

func (h *heap) trim() {
	if t, ok := h.a.(interface{ Trim() error }); ok {
		h.s.note("Trim", 0, 0, 0)
		h.s.must("Trim", t.Trim())
	}
}

// unreasonable asks for what no allocator has.
func (h *heap) unreasonable() {
	h.s.note("unreasonable Alloc", 0, 0, 0)
	before := h.stats()
	for _, c := range []struct {
		size, align uintptr
		want        []error
	}{
		{16, 3, []error{memory.ErrAlign}},
		{16, 0, []error{memory.ErrAlign}},
		{16, 2 * memory.MaxAlign, []error{memory.ErrAlign, memory.ErrTooLarge}},
		{^uintptr(0), 1, []error{memory.ErrTooLarge, memory.ErrOutOfMemory}},
		{^uintptr(0) - 4095, 4096, []error{memory.ErrTooLarge, memory.ErrOutOfMemory}},
	} {
		_, err := h.a.Alloc(c.size, c.align)
		if err == nil || !errors.Is(err, c.want[0]) && !errors.Is(err, c.want[len(c.want)-1]) {
			h.s.failf("Alloc(%#x, %d): %v, want %v", c.size, c.align, err, c.want)
		}
	}
	after := h.stats()
	h.oom += after.Failures - before.Failures
	after.Failures = before.Failures
	if after != before {
		h.s.failf("refused requests changed the books from %+v to %+v", before, after)
	}
}

// misuse is one of the mistakes that every build finds.
func (h *heap) misuse() {
	if len(h.live) == 0 {
		return
	}
	b := h.live[h.s.n(len(h.live))]
	h.s.note("misuse of p size id", uintptr(b.p), uint64(b.size), b.id)
	free := func(p unsafe.Pointer, size uintptr) func() { return func() { h.a.Free(p, size) } }
	switch h.s.n(4) {
	case 0:
		if c := h.corpse; c.p != nil && h.taken.free(c.p) && !h.livesAt(c.p) {
			h.s.refused("a double free", h.stats, free(c.p, c.size))
		}
	case 1:
		if off := h.s.between(1, max(b.size, 2)-1); b.size > 1 {
			h.s.refused("an interior pointer", h.stats, free(unsafe.Add(b.p, off), b.size-off))
		}
	case 2:
		h.s.refused("a foreign pointer", h.stats, free(unsafe.Pointer(&h.alien[16]), 16))
	case 3:
		if h.exact {
			h.s.refused("a size one too large", h.stats, free(b.p, b.size+1))
			h.s.refused("a size that wraps", h.stats, free(b.p, ^uintptr(0)))
		} else if z, ok := h.a.(memory.Sizer); ok {
			h.s.refused("a size beyond the class", h.stats, free(b.p, z.SizeOf(b.p)+1))
		}
	}
	h.verify(b)
}

// livesAt reports whether a block of size 0, which takes no byte, lives at p.
func (h *heap) livesAt(p unsafe.Pointer) bool {
	for _, b := range h.live {
		if b.p == p {
			return true
		}
	}
	_, ok := h.away[p]
	return ok
}

func (h *heap) stats() memory.Stats { return h.a.(memory.StatsReporter).Stats() }

func (h *heap) check() {
	h.s.must("Check", h.a.(memory.Checker).Check())
	h.verifyAll()
	h.compareStats()
	h.largest()
	if z, ok := h.a.(memory.Sizer); ok && len(h.live) > 0 {
		b := h.live[h.s.n(len(h.live))]
		if got := z.SizeOf(b.p); got < b.size || h.exact && got != b.size {
			h.s.failf("SizeOf %v is %d", b, got)
		}
	}
	if o, ok := h.a.(memory.Owner); ok {
		for _, b := range h.live[:min(len(h.live), 16)] {
			if !o.Owns(b.p) {
				h.s.failf("%v is not owned", b)
			}
		}
		if o.Owns(unsafe.Pointer(&h.alien)) {
			h.s.failf("memory of the Go heap is owned")
		}
	}
}

// compareStats compares the allocator's statistics with the model's.
func (h *heap) compareStats() {
	st := h.stats()
	h.peak = max(h.peak, st.InUse)
	slack := uint64(0)
	if h.slack != nil {
		slack = h.slack()
	}
	switch most := h.sum(h.cost) + slack; {
	case st.Live != uint64(len(h.live)) || st.Allocs != h.allocs || st.Frees != h.frees:
		h.s.failf("%d live, %d allocated, %d freed; the books say %+v", len(h.live), h.allocs, h.frees, st)
	case h.exact && st.Requested != h.requested || st.Requested != 0 && st.Requested != h.requested:
		h.s.failf("%d bytes were requested; the books say %+v", h.requested, st)
	case st.InUse < h.requested || st.InUse > most:
		h.s.failf("%d bytes were requested, which cost at most %d; the books say %+v", h.requested, most, st)
	case st.InUse > st.Committed || st.Committed > st.Reserved || st.Peak < h.peak:
		h.s.failf("at most %d bytes were in use; the books do not add up: %+v", h.peak, st)
	}
}

func (h *heap) finish() {
	h.s.note("finish", 0, 0, 0)
	for len(h.live) > 0 {
		h.free(h.s.n(len(h.live)))
	}
	h.compareStats()
	h.s.must("Check", h.a.(memory.Checker).Check())
	if st := h.stats(); st.Live != 0 || st.InUse != 0 || st.Requested != 0 {
		h.s.failf("everything is freed; the books say %+v", st)
	}
	h.trim()
	closing(h.s, h.a)
}

// closing closes an allocator twice and looks whether it is.
func closing(s *segment, a memory.Allocator) {
	c := a.(interface{ Close() error })
	s.must("Close", c.Close())
	s.must("Close again", c.Close())
	if p, err := a.Alloc(16, 1); err == nil || p != nil {
		s.failf("Alloc after Close gave %p, %v", p, err)
	}
}
