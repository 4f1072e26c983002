package slab

import (
	"bytes"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// vacant marks, in place, a unit that belongs to no class.
const vacant = 0xFF

// noClass is the owner of a vacant unit: no size is served from it, and it has no room for a
// free block, so that memfast builds refuse what is freed there. Step16 up to 4096 bytes uses
// it as a class, and goes without that.
const noClass = maxClasses - 1

// carveBatch is how many blocks refill carves at once: enough that the slow path is rare in a
// cold heap, few enough that what no one asks for stays untouched.
const carveBatch = 32

// growShare is the share of its units that a class is given more at a time: 2 % of a class wait to
// be used, on average, and a class of 1 MiB has taken 80 spans.
const growShare = 32

// A run is units in a row.
type run struct{ first, units uintptr }

// refill gives a class whose stack is empty at least one free block. On error nothing has
// changed. Blocks that were freed meanwhile, as by the function of a [page.Limit.OnSoft], stay
// below the new ones.
func (h *Heap) refill(ci uint8) error {
	if h.base == nil {
		return memory.ErrClosed
	}
	c, s := &h.classes[ci], &h.shapes[ci]
	if c.bump == c.end {
		r, err := h.takeSpan(s)
		if err != nil {
			return err
		}
		for c.bump != c.end { // who was called by the source has taken a span, too
			h.carve(c, s)
		}
		h.assign(ci, r)
	}
	h.carve(c, s)
	return nil
}

// carve puts the next blocks of a class, at least one, on its stack.
func (h *Heap) carve(c *class, s *shape) {
	k := min(carveBatch, (c.end-c.bump)/s.size)
	stack := unsafe.Slice((*uint32)(c.stack), c.n+k)[c.n:]
	for i := range stack { // ascending addresses come off the stack first
		stack[i] = c.bump + (k-1-uint32(i))*s.size
	}
	c.n += k
	c.carved += k
	c.bump += k * s.size
	h.carved += uint64(k*s.size) << granuleShift
}

// assign makes r a span of class ci, and makes room on the stack for all its blocks: Free must
// never grow it.
func (h *Heap) assign(ci uint8, r run) {
	c, s := &h.classes[ci], &h.shapes[ci]
	for i := range r.units {
		h.owned[r.first+i] = ci
		h.place[r.first+i] = uint8(i)
	}
	blocks := uint32(r.units*unitGranules) / s.size
	h.known[ci/64] |= 1 << (ci % 64)
	s.units += uint32(r.units)
	s.blocks += blocks
	c.bump = uint32(r.first * unitGranules)
	c.end = c.bump + blocks*s.size
	if s.blocks > s.capacity {
		s.capacity = s.stackFor(s.blocks)
		stack := make([]uint32, s.capacity)
		copy(stack, c.free()) // next to always nothing
		c.stack = unsafe.Pointer(unsafe.SliceData(stack))
	}
}

// stackFor returns the capacity of the stack of a class with so many blocks.
func (s *shape) stackFor(blocks uint32) uint32 {
	if blocks <= s.capacity {
		return s.capacity
	}
	return max(blocks, s.capacity+max(s.capacity/4, min(s.capacity, stackDoubles)))
}

// takeSpan finds units for another span of a class: recycled ones, then fresh ones, and when
// memory is refused as many as one block needs, and those that reclaim can take from other
// classes. It commits nothing where largestFree says that there is room.
//
// If all fails, also by a panic of the source, the other classes have their spans again.
func (h *Heap) takeSpan(s *shape) (r run, err error) {
	size := s.bytes()
	least, fair, want := s.spanUnits()
	if n := s.stackFor(s.blocks + uint32(want*unitGranules)/s.size); n > s.capacity {
		if err := page.ProbeHeap(uintptr(n) * 4); err != nil {
			return run{}, err
		}
	}
	if r := h.takeVacant(size, fair, want); r.units > 0 {
		h.undo.broken = true // in a function that the source has called: they may be units of a condemned span
		return r, nil
	}
	if h.undo.begin(h) {
		defer func() { h.undo.end(h, r.units > 0) }()
	}
	return h.findSpan(size, least, fair, want)
}

// findSpan is takeSpan where no vacant units fit well.
func (h *Heap) findSpan(size, least, fair, want uintptr) (run, error) {
	if h.mustCommit(size, fair) {
		if r, _ := h.takeAbsent(size, fair, want); r.units > 0 {
			return r, nil
		}
	}
	if h.mustCommit(size, fair) && !h.hopeless(least, spanStep(size)) {
		if r := h.squeeze(size, fair, want); r.units > 0 {
			return r, nil
		}
		if h.isRipe() && h.reclaim() > 0 {
			if r := h.takeVacant(size, fair, want); r.units > 0 {
				return r, nil
			}
		}
	}
	if h.mustCommit(size, fair) { // rather one that leaves a rest
		if r := h.takeVacant(size, least, fair); r.units > 0 {
			return r, nil
		}
	}
	r, err := h.takeFresh(size, fair, want)
	if err == nil {
		return r, nil
	}
	r, refused := h.takeAbsent(size, least, want)
	if r.units > 0 {
		return r, nil
	}
	if refused != nil {
		err = refused // more addresses would not help
	}
	if least < fair {
		if r, err := h.takeFresh(size, least, least); err == nil {
			return r, nil
		}
	}
	if !h.worth(least, spanStep(size)) || h.reclaim() == 0 {
		if h.base == nil {
			err = memory.ErrClosed
		}
		return run{}, err
	}
	if r := h.takeVacant(size, least, want); r.units > 0 {
		return r, nil
	}
	return h.takeFresh(size, least, want)
}

// mustCommit reports whether n units behind limit are more than what is committed.
func (h *Heap) mustCommit(size, n uintptr) bool {
	return (align.Up(h.limit/unitGranules, spanStep(size))+n)<<unitShift > h.mem.Committed()
}

// isRipe reports whether a reclaim before memory is committed is worth its while: half of what
// was ever carved is free, as after the end of a phase, and not only as far as the classes of
// random traffic breathe, which would take each other's spans for ever. It looks at every unit and
// every free block, and enough was freed since the last one for that to be sixteen steps, of a nanosecond, a free.
func (h *Heap) isRipe() bool {
	steps, free := uint64(h.limit/unitGranules), uint64(0)
	for i := range h.ladder.sizes {
		n := uint64(h.classes[i].n)
		steps += n
		free += n * uint64(h.ladder.sizes[i])
	}
	return free > h.carved/2 && h.frees()-h.looked > steps/16
}

// takeVacant takes the first vacant units in a row, from least to most of them. Cost: the units
// above lowest.
func (h *Heap) takeVacant(size, least, most uintptr) run {
	step := spanStep(size)
	r := h.vacantRun(least, most, step)
	if r.units == 0 {
		return run{}
	}
	r.units = fitUnits(size, r.units)
	h.vacant -= r.units
	if r.first == h.lowest || least == 1 && step == 1 {
		h.lowest = r.first + r.units
	}
	return r
}

// vacantRun returns the first vacant units in a row that start at a multiple of step, from
// least to most of them; none where there are not so many.
func (h *Heap) vacantRun(least, most, step uintptr) run {
	if h.vacant < least || h.short.lacks(least, step) {
		return run{}
	}
	end := h.limit / unitGranules
	for i := h.lowest; i < end; {
		hole := bytes.IndexByte(h.place[i:end], vacant)
		if hole < 0 {
			break
		}
		r := run{first: align.Up(i+uintptr(hole), step)}
		for i = r.first; i < end && h.place[i] == vacant && r.units < most; i++ {
			r.units++
		}
		if r.units >= least {
			return r
		}
		i = max(i, r.first+1)
	}
	return run{}
}

// takeFresh takes the units at limit, least of them or, as far as memory is committed then, up
// to most; what is skipped so that they start at a multiple of their step is vacant. In debug
// builds what was not in use before is filled as freed blocks are; what a Reset or reclaim left
// has been, and if a stale pointer has written there since, the block's Alloc will say so.
func (h *Heap) takeFresh(size, least, most uintptr) (run, error) {
	step := spanStep(size)
	for h.mustCommit(size, least) { // again: the source may have called what takes units, trims or resets
		if err := h.growBooksFor(size, least, most); err != nil {
			return run{}, err
		}
		if err := h.mem.Ensure((align.Up(h.limit/unitGranules, step) + least) << unitShift); err != nil {
			return run{}, err
		}
	}
	limit := h.limit / unitGranules
	r := run{first: align.Up(limit, step)}
	r.units = fitUnits(size, min(most, h.mem.Committed()>>unitShift-r.first))
	end := r.first + r.units
	if err := h.growBooks(end); err != nil {
		return run{}, err
	}
	if r.first > limit {
		h.vacant += r.first - limit
		h.lowest = min(h.lowest, limit)
		h.short.forget()
	}
	h.limit = end * unitGranules
	if invariant.Debug && h.limit > h.poisoned {
		from := max(h.poisoned, limit*unitGranules)
		invariant.Freed(unsafe.Add(h.base, from<<granuleShift), (h.limit-from)<<granuleShift)
		h.poisoned = h.limit
	}
	return r, nil
}

// growBooksFor makes the maps reach to the end of a span of least to most units at limit, as far as
// memory will be committed for it: before that is, so that a refusal leaves nothing committed.
func (h *Heap) growBooksFor(size, least, most uintptr) error {
	first := align.Up(h.limit/unitGranules, spanStep(size))
	need := (first + least) << unitShift
	if need > h.mem.Reserved() {
		return nil // Ensure says so
	}
	return h.growBooks(first + fitUnits(size, min(most, h.mem.Ahead(need)>>unitShift-first)))
}

// mapBytes is what the maps take for a unit: a live word, its class and place.
const mapBytes = 8 + 1 + 1

// Small metadata doubles, because each growth copies it into memory that the system has not provided yet. Large
// metadata grows by a quarter, because its unused part counts.
const (
	stackDoubles = 8 << 10  // entries of a class's stack: 32 KiB
	mapsDouble   = 16 << 10 // units of memory: 192 KiB of maps for 16 MiB
)

// growBooks makes the maps reach to unit end at least, and the tally if it is large. They grow with the memory in use,
// so a large reservation has no cost. If the Go heap has no space for them, Go would end the process: growBooks asks
// first, and then changes no map. The tally grows early because it is needed when memory is short.
func (h *Heap) growBooks(end uintptr) error {
	if have := uintptr(len(h.tally.of)); end > max(have, smallTally) {
		if err := h.countTo(h.grown(have, end)); err != nil {
			return err
		}
	}
	have := uintptr(len(h.live))
	if !invariant.Exact {
		have = uintptr(len(h.place))
	}
	if end <= have {
		return nil
	}
	units := h.grown(have, end)
	if err := page.ProbeHeap(units * mapBytes); err != nil {
		return err
	}
	if invariant.Exact {
		live := make([]uint64, units)
		copy(live, h.live)
		h.live = live
	}
	h.growMaps(units)
	return nil
}

// grown returns how many units the metadata is extended to if it has too few for end.
func (h *Heap) grown(have, end uintptr) uintptr {
	return min(max(end, have+max(have/4, min(have, mapsDouble)), largestUnits), h.mem.Reserved()>>unitShift)
}

// growMaps makes the maps that caches read, too, reach to unit end.
func (h *Heap) growMaps(end uintptr) {
	old := uintptr(len(h.place))
	if end <= old {
		return
	}
	owned, place := make([]uint8, end), make([]uint8, end)
	copy(owned, h.owned)
	copy(place, h.place)
	h.owned, h.place = owned, place
	h.vacateUnits(old, end)
}

// vacateUnits makes the units from first to end-1 vacant in the maps.
func (h *Heap) vacateUnits(first, end uintptr) {
	place, owned := h.place[first:end], h.owned[first:end]
	for i := range place {
		place[i] = vacant // first: what a cache then reads of owned is not believed
		owned[i] = noClass
	}
}
