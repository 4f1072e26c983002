package slab

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// maxFaults bounds how much a ruined heap is allowed to say.
const maxFaults = 32

// Check verifies the equations above the types and reports every one that is broken. Cost:
// proportional to the free blocks and to the slabs in use; it allocates.
func (h *Heap) Check() error {
	if h.base == nil {
		return nil
	}
	r := &report{errs: []error{h.mem.Check()}}
	if h.limit%slabGranules != 0 || h.limit<<granuleShift > h.mem.Committed() {
		r.say("limit %d granules is not whole slabs within the %d bytes committed", h.limit, h.mem.Committed())
		return r.err()
	}
	h.checkTables(r)
	if !h.checkSlabs(r) {
		return r.err()
	}
	free := make([]uint64, h.limit/64)
	var carved uint64
	for i := range h.ladder.sizes {
		h.checkClass(r, uint8(i), free)
		carved += uint64(h.classes[i].carved) * uint64(h.ladder.sizes[i])
	}
	if carved != h.carved {
		r.say("%d bytes are carved, the classes have %d", h.carved, carved)
	}
	if invariant.Exact {
		h.checkLive(r, free)
	}
	return r.err()
}

// checkTables verifies that the heap's copies of the ladder still are that.
func (h *Heap) checkTables(r *report) {
	if h.rungs != uintptr(len(h.ladder.tab)) || !bytes.Equal(h.tab[:h.rungs], h.ladder.tab) {
		r.say("the %d entries of the lookup table are not the ladder's %d", h.rungs, len(h.ladder.tab))
	}
	for i, size := range h.ladder.sizes {
		if h.shapes[i].size != size>>granuleShift {
			r.say("class %d of %d bytes has blocks of %d granules", i, size, h.shapes[i].size)
		}
	}
}

// checkSlabs verifies that slabs tile into spans and vacancies, and counts both.
func (h *Heap) checkSlabs(r *report) bool {
	var spans [maxClasses]uint32
	vacancies, slabs := uintptr(0), h.limit/slabGranules
	for i := uintptr(0); i < slabs; {
		if h.place[i] == vacant {
			if i < h.lowest {
				r.say("slab %d is vacant below the lowest vacant slab %d", i, h.lowest)
			}
			vacancies++
			i++
			continue
		}
		ci := h.owned[i]
		if int(ci) >= len(h.ladder.sizes) {
			r.say("slab %d belongs to class %d of %d", i, ci, len(h.ladder.sizes))
			return false
		}
		n := uintptr(h.shapes[ci].slabs)
		for j := range n {
			if i+j >= slabs || h.owned[i+j] != ci || uintptr(h.place[i+j]) != j {
				r.say("slab %d is not part %d of the span of class %d at slab %d", i+j, j, ci, i)
				return false
			}
		}
		spans[ci]++
		i += n
	}
	if vacancies != h.vacant {
		r.say("%d slabs are vacant, %d are counted", vacancies, h.vacant)
	}
	for i := range h.ladder.sizes {
		if spans[i] != h.shapes[i].spans {
			r.say("class %d owns %d spans, %d are counted", i, spans[i], h.shapes[i].spans)
			return false
		}
	}
	return true
}

// checkClass verifies the counts of a class and every entry of its stack, and notes the
// entries in free.
func (h *Heap) checkClass(r *report, ci uint8, free []uint64) {
	c, s := &h.classes[ci], &h.shapes[ci]
	if c.n > c.carved || c.carved > s.capacity {
		r.say("class %d: %d free, %d carved, room for %d are not in order", ci, c.n, c.carved, s.capacity)
		return
	}
	rest := uint32(0)
	if c.bump != c.end {
		if c.bump > c.end || uintptr(c.end) > h.limit || (c.end-c.bump)%s.size != 0 || h.owned[c.bump/slabGranules] != ci {
			r.say("class %d: granules %d to %d are no rest of one of its spans", ci, c.bump, c.end)
			return
		}
		rest = (c.end - c.bump) / s.size
	}
	if c.carved+rest != s.spans*s.blocks {
		r.say("class %d: %d carved and %d to carve are not the %d blocks of %d spans", ci, c.carved, rest, s.spans*s.blocks, s.spans)
	}
	for _, off := range c.free() {
		switch {
		case !h.startsBlock(uintptr(off), ci):
			r.say("class %d: the free entry %d is no block of the class", ci, off)
			continue
		case free[off/64]>>(off%64)&1 != 0:
			r.say("class %d: block %d is free twice", ci, off)
		case invariant.Exact && *h.word(uintptr(off))>>(off%64)&1 != 0:
			r.say("class %d: block %d is free and live", ci, off)
		}
		free[off/64] |= 1 << (off % 64)
	}
}

// startsBlock reports whether a carved block of class ci starts at granule off.
func (h *Heap) startsBlock(off uintptr, ci uint8) bool {
	if off >= h.limit || h.place[off/slabGranules] == vacant || h.owned[off/slabGranules] != ci {
		return false
	}
	first := uintptr(h.spanOf(uint32(off)))
	inside, size := off-first*slabGranules, uintptr(h.shapes[ci].size)
	return inside%size == 0 && inside/size < uintptr(h.carvedIn(first))
}

// checkLive verifies that live bits stand at carved blocks only, and that live and free
// blocks together are all there are.
func (h *Heap) checkLive(r *report, free []uint64) {
	var have, live [maxClasses]uint32
	for i, w := range h.live[:h.limit/64] {
		for ; w != 0; w &= w - 1 {
			off := uintptr(i*64 + bits.TrailingZeros64(w))
			ci := h.owned[off/slabGranules]
			if !h.startsBlock(off, ci) {
				r.say("the live bit of granule %d stands where no block starts", off)
				continue
			}
			live[ci]++
		}
		have[h.owned[i*64/slabGranules]] += uint32(bits.OnesCount64(free[i]))
	}
	for i := range h.ladder.sizes {
		c := &h.classes[i]
		if live[i]+have[i] != c.carved {
			r.say("class %d: %d live and %d free blocks are not the %d carved", i, live[i], have[i], c.carved)
		}
	}
	for i, w := range h.live[h.limit/64:] {
		if w != 0 {
			r.say("the live map has blocks beyond limit, at word %d", int(h.limit/64)+i)
			break
		}
	}
}

// A report gathers faults up to maxFaults.
type report struct {
	errs []error
	more int
}

func (r *report) say(format string, args ...any) {
	if len(r.errs) > maxFaults {
		r.more++
		return
	}
	r.errs = append(r.errs, fmt.Errorf("slab: "+format, args...))
}

func (r *report) err() error {
	if r.more > 0 {
		r.errs = append(r.errs, fmt.Errorf("slab: and %d faults more", r.more))
	}
	return errors.Join(r.errs...)
}
