package slab

import (
	"bytes"
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/internal/saved"
	"github.com/strata-go/strata/memory/save"
)

// SaveState implements [save.State]: it saves the live blocks, and the metadata that decides where the next block lies.
// This metadata includes the order of the free blocks and a Sweep that has begun. The age of blocks is saved, too: see
// [Heap.BeginEpoch]. Debug and memfast builds also save free memory. Other builds save only live blocks, and whole
// ranges of memory for which [save.Coder.Whole] returns true.
//
// Blocks of Config.Large are not saved: add Large to the Set. If the heap has a Central, saving and loading fail with
// an error that wraps save.ErrBusy: add the Central instead. During a call of the page source they also fail with
// save.ErrBusy. If the heap is closed, they fail with an error that wraps memory.ErrClosed. If a load cannot commit the
// memory that it needs, the error wraps the source's error.
func (h *Heap) SaveState(c *save.Coder) {
	if h.central != nil {
		c.Fail(fmt.Errorf("a Central shares the heap: save the Central: %w", save.ErrBusy))
		return
	}
	h.saveState(c)
}

func (h *Heap) saveState(c *save.Coder) {
	switch {
	case h.base == nil:
		c.Fail(memory.ErrClosed)
		return
	case h.undo.on:
		c.Busy("a function of the page source is running within Alloc")
		return
	}
	c.Same("the number of size classes", uint64(len(h.ladder.sizes)))
	c.Same("the largest size", uint64(h.maxSize()))
	h.mem.SaveState(c)
	was := h.limit / unitGranules
	units := uintptr(c.Count(int(was)))
	if c.Failed() {
		return
	}
	if c.Fitting() {
		c.Fail(h.growBooks(units))
	}
	if c.Loading() {
		h.limit = units * unitGranules
	}
	save.Var(c, &h.totals)
	free := h.saveClasses(c)
	save.Var(c, &h.short.refusals)
	h.saveSweep(c)
	if !c.Failed() {
		h.saveMaps(c, units, was)
	}
	h.mem.SaveHoles(c, func(from, to uintptr) {
		h.mark(from>>unitShift, to>>unitShift, vacant)
		invariant.Freed(unsafe.Add(h.base, from), to-from)
	})
	saved.Lives(c, &h.lives)
	if h.central != nil {
		h.central.saveNotes(c)
	}
	if c.BeginContent() {
		h.saveContent(c, free)
		c.EndContent()
	}
}

// saveClasses visits the known classes and their stacks, and returns the bytes of the blocks on these. Most classes of a
// program are never used.
func (h *Heap) saveClasses(c *save.Coder) (free uint64) {
	n := len(h.ladder.sizes)
	for first := 0; first < n; first += 64 {
		was := h.known[first/64]
		known := c.Word(was)
		if c.Loading() {
			h.known[first/64] = known
			for w := was &^ known; w != 0; w &= w - 1 {
				h.unuse(first + bits.TrailingZeros64(w))
			}
		}
		for w := known; w != 0 && !c.Failed(); w &= w - 1 {
			i := first + bits.TrailingZeros64(w)
			free += uint64(h.saveClass(c, i)) * uint64(h.ladder.sizes[i])
		}
	}
	return free
}

// unuse makes class i as it is before its first span.
func (h *Heap) unuse(i int) {
	cl, s := &h.classes[i], &h.shapes[i]
	cl.allocs, cl.carved, cl.bump, cl.end, cl.n = 0, 0, 0, 0, 0
	s.looked, s.popped, s.seen, s.units, s.blocks = 0, 0, 0, 0, 0
}

// saveClass visits class i, two counts of 32 bits in a word. It returns how many blocks are on the stack.
func (h *Heap) saveClass(c *save.Coder, i int) uint32 {
	cl, s := &h.classes[i], &h.shapes[i]
	var w [7]uint64 // the compiler would write a literal elsewhere first, and copy it
	w[0], w[1], w[2], w[3] = cl.allocs, s.looked, join(cl.carved, cl.bump), join(cl.end, s.units)
	w[4], w[5], w[6] = join(s.blocks, cl.n), s.popped, uint64(s.seen)
	c.Words(w[:])
	blocks, n := uint32(w[4]), uint32(w[4]>>32)
	switch {
	case c.Failed():
		return 0
	case n > blocks:
		c.Differs("class %d had %d free blocks of %d", i, n, blocks)
		return 0
	case blocks > s.capacity && c.Scanning():
		c.Differs("class %d had %d blocks", i, blocks)
		return 0
	case blocks > s.capacity && !c.Saving():
		stack := make([]uint32, blocks)
		copy(stack, cl.free())
		cl.stack, s.capacity = unsafe.Pointer(unsafe.SliceData(stack)), blocks
	}
	if c.Loading() {
		cl.allocs, s.looked = w[0], w[1]
		cl.carved, cl.bump = uint32(w[2]), uint32(w[2]>>32)
		cl.end, s.units = uint32(w[3]), uint32(w[3]>>32)
		s.blocks, cl.n = blocks, n
		s.popped, s.seen = w[5], uint32(w[6])
	}
	c.Raw(cl.stack, uintptr(n)*4)
	return n
}

// join returns two numbers in one word.
func join(a, b uint32) uint64 { return uint64(a) | uint64(b)<<32 }

// saveSweep visits a Sweep, with its counts for the first units. Between two rounds nothing of it matters.
func (h *Heap) saveSweep(c *save.Coder) {
	s := &h.sweep
	if !c.Flag(s.noted) {
		if c.Loading() {
			s.noted, s.on = false, false
			clear(s.tried[:])
		}
		return
	}
	classes := len(h.ladder.sizes)
	save.Vec(c, s.allocs[:classes])
	save.Vec(c, s.recent[:classes])
	save.Vec(c, s.tried[:classes])
	save.Var(c, &s.round)
	save.List(c, &s.spans)
	n := uintptr(c.Count(int(s.tallied())))
	switch {
	case c.Failed():
		return
	case n > uintptr(len(s.tally)) && !c.Saving() && !c.Scanning():
		s.tally = append(s.tally, make([]uint16, n-uintptr(len(s.tally)))...)
	case n > uintptr(len(s.tally)):
		c.Differs("a sweep of %d KiB", n)
		return
	}
	save.Vec(c, s.tally[:n])
}

// tallied returns how many units the sweep counts in. Units that came into use after its begin have the counts of
// another.
func (s *sweep) tallied() uintptr {
	if !s.on {
		return 0
	}
	return uintptr(s.units)
}

// saveMaps visits the maps of the first units; was is how many there are now.
func (h *Heap) saveMaps(c *save.Coder, units, was uintptr) {
	if c.Scanning() && units > uintptr(len(h.place)) {
		c.Differs("%d KiB were in use", units)
		return
	}
	if c.Loading() && was > units {
		h.vacateUnits(units, was)
		if invariant.Exact {
			clear(h.live[units:was])
		}
	}
	save.Vec(c, h.owned[:units])
	save.Vec(c, h.place[:units])
	if !invariant.Exact {
		return
	}
	save.Vec(c, h.live[:units])
	known := h.old[:min(units, uintptr(len(h.old)))]
	for c.Saving() && len(known) > 0 && known[len(known)-1] == 0 { // a load leaves words that were added since
		known = known[:len(known)-1]
	}
	old := uintptr(c.Count(len(known)))
	if !c.Saving() && !c.Scanning() && old > uintptr(len(h.old)) {
		h.old = append(h.old, make([]uint64, old-uintptr(len(h.old)))...)
	}
	if old > uintptr(len(h.old)) {
		c.Differs("an epoch of %d KiB", old)
		return
	}
	if save.Vec(c, h.old[:old]); c.Loading() {
		clear(h.old[old:])
	}
}

// saveContent visits all memory below limit if that is dense. Otherwise it visits the blocks of each span, in the order
// of addresses. The blocks on the stacks have free bytes.
func (h *Heap) saveContent(c *save.Coder, free uint64) {
	units := h.limit / unitGranules
	if invariant.Debug {
		saved.Committed(c, &h.mem, max(h.poisoned, h.limit)<<granuleShift)
		return
	}
	dense := h.absent == 0 && c.Whole(uintptr(h.carved-free), h.limit<<granuleShift)
	if c.Flag(dense) { // a load asks the slot, because a source can refuse to take back absent units
		c.Raw(h.base, h.limit<<granuleShift)
		return
	}
	r := saved.Run{C: c}
	for i := uintptr(0); i < units; {
		if h.place[i] >= absent {
			i++
			continue
		}
		n := h.unitsOf(i)
		h.saveSpan(&r, i, n)
		i += n
	}
	r.End()
}

// saveSpan visits the blocks of the span of n units from first on. A span that is copied as a whole is copied to its end,
// so that it meets the next one.
func (h *Heap) saveSpan(r *saved.Run, first, n uintptr) {
	from, to := first*unitGranules, uintptr(h.carvedTo(first, n))
	if !invariant.Exact {
		h.visit(r, from, to)
		return
	}
	size, live := uintptr(h.shapes[h.owned[first]].size), uintptr(0)
	for i := first; i < first+n; i++ {
		live += uintptr(bits.OnesCount64(h.liveIn(i)))
	}
	switch live *= size; {
	case r.C.Whole(live, to-from):
		h.visit(r, from, to)
	case live+size > to-from:
		h.visit(r, from, from+live)
	default:
		h.saveRuns(r, first, n, size)
	}
}

func (h *Heap) visit(r *saved.Run, from, to uintptr) {
	r.Add(h.base, from<<granuleShift, to<<granuleShift)
}

// liveIn returns the live blocks of unit i: those of the heap, and those that callers of the Caches have.
func (h *Heap) liveIn(i uintptr) uint64 {
	if h.central == nil && i >= uintptr(len(h.old)) {
		return h.live[i]
	}
	return h.live[i] | h.oldWord(i) | h.lentIn(nil, i*unitGranules)
}

// saveRuns visits the live blocks of a span. size is that of a block in granules.
func (h *Heap) saveRuns(r *saved.Run, first, n, size uintptr) {
	for i := first; i < first+n; i++ {
		for w := h.liveIn(i); w != 0; w &= w - 1 {
			at := i*unitGranules + uintptr(bits.TrailingZeros64(w))
			h.visit(r, at, at+size)
		}
	}
}

// SaveState saves the heap of the Central as [Heap.SaveState] does, with the blocks that callers of the Caches have. If
// a [Cache] has free blocks, saving and loading fail with an error that wraps save.ErrBusy. Stop the goroutines of the
// caches and flush all caches first. In memfast builds saving and loading fail in the same way while a Cache is open.
func (c *Central) SaveState(s *save.Coder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heap.saveState(s)
}

// States yields the heap, for package save: see save.Composite. Safe for concurrent use.
func (c *Central) States(yield func(save.State) bool) { yield(c.heap) }

// saveNotes visits the blocks of callers.
func (c *Central) saveNotes(s *save.Coder) {
	if !invariant.Exact && c.caches > 0 {
		s.Busy("a cache is open, and this build does not record what it has")
		return
	}
	for i := range c.lent {
		n := c.lent[i].Load()
		if n != nil && n != &blank && bytes.IndexByte(unsafe.Slice((*byte)(unsafe.Pointer(n)), noteGranules), stashed) >= 0 && !s.Loading() {
			s.Busy("a cache has free blocks; call Flush")
			return
		}
		switch had := s.Flag(n != nil); {
		case s.Failed():
			return
		case s.Loading() && !had:
			c.lent[i].Store(nil)
			continue
		case !had:
			continue
		case s.Loading() && n == nil:
			if n = &blank; invariant.Exact {
				n = new(notes)
			}
			c.lent[i].Store(n)
		}
		if !invariant.Exact {
			continue
		}
		if n == nil {
			n = new(notes) // fitting: only its size counts
		}
		save.Var(s, n)
	}
}
