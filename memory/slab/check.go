package slab

import (
	"bytes"
	"math/bits"

	"github.com/strata-go/strata/memory/internal/findings"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// Check verifies the heap's metadata and returns the inconsistencies, joined into one error, or nil. After 32
// it only counts the others. For a closed heap Check returns nil. Cost: proportional to the free blocks and the
// metadata. Check allocates in the Go heap.
func (h *Heap) Check() error {
	if h.base == nil {
		return nil
	}
	r := &findings.List{Of: "slab"}
	r.Join(h.mem.Check(), h.ladder.check(), h.checkTally())
	units := uintptr(len(h.place))
	if h.limit%unitGranules != 0 || h.limit<<granuleShift > h.mem.Committed() || h.limit/unitGranules > units || invariant.Exact && h.limit/64 > uintptr(len(h.live)) {
		r.Add("limit %d granules is not whole units within the %d bytes committed, of which %d units have metadata", h.limit, h.mem.Committed(), units)
		return r.Err()
	}
	if h.lowest > h.limit/unitGranules || h.poisoned > h.mem.Reserved()>>granuleShift || invariant.Debug && h.poisoned < h.limit {
		r.Add("of %d units below limit none below %d is vacant and %d granules are poisoned: these are not in order", h.limit/unitGranules, h.lowest, h.poisoned)
	}
	if !h.checkTables(r) || !h.checkUnits(r) {
		return r.Err()
	}
	free := make([]uint64, h.limit/64)
	var carved uint64
	for i := range h.ladder.sizes {
		h.checkClass(r, uint8(i), free)
		carved += uint64(h.classes[i].carved) * uint64(h.ladder.sizes[i])
	}
	if carved != h.carved {
		r.Add("%d bytes are carved, the classes have %d", h.carved, carved)
	}
	if h.central != nil && h.central.caches < 0 {
		r.Add("%d caches are open", h.central.caches)
	}
	if invariant.Exact {
		h.checkOut(r, free)
	}
	if r.None() {
		h.checkShortage(r)
	}
	return r.Err()
}

// checkTables verifies that what the heap derived from the ladder still is that. What follows
// counts with it.
func (h *Heap) checkTables(r *findings.List) (sound bool) {
	if h.rungs != uintptr(len(h.ladder.tab)) || !bytes.Equal(h.tab[:len(h.ladder.tab)], h.ladder.tab) {
		r.Add("the %d entries of the lookup table are not the ladder's %d", h.rungs, len(h.ladder.tab))
	}
	sound = true
	for i, size := range h.ladder.sizes {
		if s := &h.shapes[i]; size-1 >= largest || s.size != size>>granuleShift || size%granule != 0 {
			r.Add("class %d of %d bytes has blocks of %d granules", i, size, s.size)
			sound = false
		}
		if h.known[i/64]>>(i%64)&1 == 0 && h.classes[i].allocs+uint64(h.shapes[i].blocks) > 0 {
			r.Add("class %d has blocks or had some, and is not known", i)
		}
	}
	return sound
}

// checkUnits verifies that units tile into spans and vacancies, and counts both.
func (h *Heap) checkUnits(r *findings.List) bool {
	var units, blocks [maxClasses]uint32
	vacancies, absents, end := uintptr(0), uintptr(0), h.limit/unitGranules
	for i := uintptr(0); i < end; {
		if h.place[i] == vacant {
			if i < h.lowest {
				r.Add("unit %d is vacant below the lowest vacant unit %d", i, h.lowest)
			}
			vacancies++
			i++
			continue
		}
		if h.place[i] == absent {
			if from, to := h.mem.NextHole(i << unitShift); from != i<<unitShift || to <= from || h.owned[i] != noClass {
				r.Add("unit %d is absent and of class %d, the first hole there is from %d to %d", i, h.owned[i], from, to)
			}
			absents++
			i++
			continue
		}
		ci := h.owned[i]
		if int(ci) >= len(h.ladder.sizes) {
			r.Add("unit %d belongs to class %d of %d", i, ci, len(h.ladder.sizes))
			return false
		}
		n, size := h.unitsOf(i), uintptr(h.ladder.sizes[ci])
		if h.place[i] != 0 || i%spanStep(size) != 0 || n < leastUnits(size) {
			r.Add("%d units from unit %d on, part %d of a span, are none of class %d", n, i, h.place[i], ci)
			return false
		}
		for j := range n {
			if h.owned[i+j] != ci {
				r.Add("unit %d of class %d is part %d of the span of class %d at unit %d", i+j, h.owned[i+j], j, ci, i)
				return false
			}
		}
		units[ci] += uint32(n)
		blocks[ci] += uint32(n << unitShift / size)
		i += n
	}
	if absents != h.absent || absents<<unitShift != h.mem.Dropped() {
		r.Add("%d units are absent, %d are counted, and %d bytes were returned", absents, h.absent, h.mem.Dropped())
	}
	if vacancies != h.vacant {
		r.Add("%d units are vacant, %d are counted", vacancies, h.vacant)
	}
	for i := range h.ladder.sizes {
		if s := &h.shapes[i]; units[i] != s.units || blocks[i] != s.blocks {
			r.Add("class %d has %d units for %d blocks, counted are %d for %d", i, units[i], blocks[i], s.units, s.blocks)
			return false
		}
	}
	for i, at := range h.place[end:] {
		if at != vacant || h.owned[end+uintptr(i)] != noClass {
			r.Add("unit %d behind limit is part %d of a span of class %d", end+uintptr(i), at, h.owned[end+uintptr(i)])
			break
		}
	}
	return true
}

// checkClass verifies the counts of a class and every entry of its stack, and notes the
// entries in free.
func (h *Heap) checkClass(r *findings.List, ci uint8, free []uint64) {
	c, s := &h.classes[ci], &h.shapes[ci]
	if c.n > c.carved || c.carved > s.capacity || c.allocs < uint64(c.carved-c.n) {
		r.Add("class %d: %d free, %d carved, room for %d, %d ever handed out are not in order", ci, c.n, c.carved, s.capacity, c.allocs)
		return
	}
	rest := uint32(0)
	if c.bump != c.end {
		if c.bump > c.end || uintptr(c.end) > h.limit || (c.end-c.bump)%s.size != 0 || h.owned[c.bump/unitGranules] != ci {
			r.Add("class %d: granules %d to %d are no rest of one of its spans", ci, c.bump, c.end)
			return
		}
		rest = (c.end - c.bump) / s.size
	}
	if c.carved+rest != s.blocks {
		r.Add("class %d: %d carved and %d to carve are not the %d blocks of its spans", ci, c.carved, rest, s.blocks)
		return
	}
	for _, off := range c.free() {
		switch {
		case !h.startsBlock(uintptr(off), ci):
			r.Add("class %d: the free entry %d is no block of the class", ci, off)
			continue
		case free[off/64]>>(off%64)&1 != 0:
			r.Add("class %d: block %d is free twice", ci, off)
		}
		free[off/64] |= 1 << (off % 64)
	}
}

// startsBlock reports whether a carved block of class ci starts at granule off.
func (h *Heap) startsBlock(off uintptr, ci uint8) bool {
	if off >= h.limit || h.place[off/unitGranules] >= absent || h.owned[off/unitGranules] != ci {
		return false
	}
	first := uintptr(h.spanOf(uint32(off)))
	inside, size := off-first*unitGranules, uintptr(h.shapes[ci].size)
	return inside%size == 0 && inside/size < uintptr(h.carvedIn(first, h.unitsOf(first)))
}

// checkOut verifies that live bits and notes stand at carved blocks only, one of them at each,
// and that live, lent and free blocks together are all there are.
func (h *Heap) checkOut(r *findings.List, free []uint64) {
	var have [maxClasses]uint32
	h.checkEpoch(r)
	for i, live := range h.live[:h.limit/64] {
		live |= h.oldWord(uintptr(i))
		ci := h.owned[i*64/unitGranules]
		lent := h.lentIn(r, uintptr(i)*64)
		for w := live | lent; w != 0; w &= w - 1 {
			off := uintptr(i*64 + bits.TrailingZeros64(w))
			if !h.startsBlock(off, ci) {
				r.Add("granule %d is live or lent, and no block starts there", off)
			} else if invariant.Debug && lent>>(off%64)&1 == 0 && h.lives.Size(off) > uintptr(h.ladder.sizes[ci]) {
				r.Add("granule %d: the block of %d bytes was asked for with %d bytes", off, h.ladder.sizes[ci], h.lives.Size(off))
			}
		}
		if both := live&lent | (live|lent)&free[i]; both != 0 {
			r.Add("block %d is two of free, live and lent", i*64+bits.TrailingZeros64(both))
		}
		have[ci] += uint32(bits.OnesCount64(live | lent | free[i]))
	}
	for i := range h.ladder.sizes {
		if c := &h.classes[i]; have[i] != c.carved {
			r.Add("class %d: %d live, lent and free blocks are not the %d carved", i, have[i], c.carved)
		}
	}
	for i, w := range h.live[h.limit/64:] {
		if w != 0 {
			r.Add("the live map has blocks beyond limit, at word %d", int(h.limit/64)+i)
			break
		}
	}
}

// lentIn returns the blocks among the 64 granules from off on that are lent. r may be nil.
func (h *Heap) lentIn(r *findings.List, off uintptr) (lent uint64) {
	if h.central == nil || h.central.lent.at(off) == nil {
		return 0
	}
	n := h.central.lent.at(off)
	for i := uintptr(0); i < 64; i += 4 {
		if n.quiet(off + i) {
			continue
		}
		for j := i; j < i+4; j++ {
			state := n.state(off + j)
			if state > used && r != nil {
				r.Add("granule %d is noted as %d, which means nothing", off+j, state)
			}
			if state != home {
				lent |= 1 << j
			}
		}
	}
	return lent
}

// Check verifies the cache's metadata and returns the inconsistencies, joined into one error, or nil. After 32 it only
// counts the others. For a closed cache Check returns nil. [Central.Check] verifies the metadata of the heap. Like
// Alloc, Check may be called only by the goroutine that uses the cache. Cost: proportional to the classes and the
// cached blocks.
func (c *Cache) Check() error {
	if c.stashes == nil || c.central.closed() {
		return nil
	}
	r := &findings.List{Of: "slab"}
	if c.rungs != uintptr(len(c.ladder.tab)) || c.span != uintptr(len(c.owned))*unitGranules || len(c.stashes) != len(c.ladder.sizes) {
		r.Add("a cache of %d classes, %d entries and %d granules is not that of its heap", len(c.stashes), c.rungs, c.span)
		return r.Err()
	}
	for i := range c.stashes {
		s := &c.stashes[i]
		if size := c.ladder.sizes[i]; size == 0 || s.batch != batchOf(size) || s.n > 2*s.batch {
			r.Add("cached class %d of %d bytes: %d blocks are more than two batches of %d", i, size, s.n, s.batch)
			continue
		}
		for _, b := range s.blocks[:s.n] {
			off := uintptr(b)
			switch {
			case off >= c.span || int(c.owned[off/unitGranules]) != i:
				r.Add("cached class %d: %d is no block of the class", i, off)
			case c.lent.at(off) == nil || invariant.Exact && c.lent.state(off) != stashed:
				r.Add("cached class %d: block %d is not noted as cached", i, off)
			}
		}
	}
	return r.Err()
}
