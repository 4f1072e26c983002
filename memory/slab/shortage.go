package slab

import (
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/findings"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// A shortage records which requests fail although empty spans would be recycled for them. A refused request therefore
// looks only at the spans into which blocks were freed since the last refusal. To find those spans Free does nothing:
// what was freed since is what lies on a stack above the depth that it had at least. That depth is the one of the last
// refusal less the blocks that were handed out since.
//
// A run is what one class could get: units in a row, each vacant or in an empty span. An empty span has no live block.
//
// Invariant, verified by Check: if needs[k] is not 0, no run of so many units starts at a multiple of 1<<k. Spans into
// which blocks were freed since the last look do not count as empty. In memfast builds this holds until a block is freed.
//
// Code that makes units vacant in another way, or changes the order of a stack, must call forget.
type shortage struct {
	refusals
	examined uint64 // spans, in all searches so far; for the tests
}

// refusals are what a state contains of a shortage. They have no padding, and are saved by one copy.
type refusals struct {
	frees  uint64 // blocks freed since New at the last look
	allocs uint64 // in memfast builds: blocks handed out since New when tail was found
	tail   uint64 // in memfast builds: the first unit of the run that ended at limit then
	needs  [alignSteps]uint8
	_      [8 - alignSteps]uint8
}

// alignSteps is how many values spanStep has: 1, 2 and 4.
const alignSteps = 3

// farthest is how many units a run is followed from a span or from limit: so many hold the largest span.
const farthest = maxSpan

// forget makes the next refused request look at all spans.
func (s *shortage) forget() { s.needs = [alignSteps]uint8{} }

// lacks reports whether it is recorded that no run of least units starts at a multiple of step.
func (s *shortage) lacks(least, step uintptr) bool {
	for k := 0; step>>k > 0; k++ {
		if n := uintptr(s.needs[k]); n != 0 && n <= least {
			return true
		}
	}
	return false
}

// hopeless reports whether a request is known to fail unless the source gives memory: nothing was freed since the last
// look.
func (h *Heap) hopeless(least, step uintptr) bool {
	return h.short.lacks(least, step) && h.short.frees == h.frees()
}

// worth reports whether a request for least units at a multiple of step, which the source has refused, is met once all
// empty spans are recycled. It changes no span and no stack. Cost: proportional to the blocks freed since the last look
// and the classes; if nothing is known of such requests, to the units. In memfast builds, if blocks were freed
// since, to the units and the free blocks.
func (h *Heap) worth(least, step uintptr) bool {
	h.look()
	if !h.short.lacks(least, step) {
		if !invariant.Exact {
			h.countTail()
		}
		if h.hasRun(least, step) {
			return true
		}
		k := 0
		for step>>k > 1 {
			k++
		}
		h.short.needs[k] = uint8(least)
	}
	return h.endReaches(least, step)
}

// look takes notice of the spans that are empty because of blocks that were freed since the last look.
func (h *Heap) look() {
	frees, nothing := h.frees(), [alignSteps]uint8{}
	if !invariant.Exact && frees != h.short.frees { // there are no live bits to tell which span is empty
		h.short.forget()
	}
	h.short.frees = frees
	if !invariant.Exact {
		return
	}
	for i := range h.ladder.sizes {
		c, s := &h.classes[i], &h.shapes[i]
		if low := s.settled(c); low < c.n && h.short.needs != nothing {
			h.lookAt(c.free()[low:])
		}
		s.seen, s.popped = c.n, c.allocs
	}
}

// settled returns how many blocks at the bottom of the stack of c were there at the last look.
func (s *shape) settled(c *class) uint32 {
	return s.seen - uint32(min(uint64(s.seen), c.allocs-s.popped))
}

// lookAt takes notice of the empty spans among those of the given blocks.
func (h *Heap) lookAt(blocks []uint32) {
	last := ^uint32(0)
	for _, off := range blocks {
		first := h.spanOf(off)
		if first == last {
			continue
		}
		last = first
		n := h.unitsOf(uintptr(first))
		if !h.isEmpty(uintptr(first), n) {
			continue
		}
		from, to := h.runBefore(uintptr(first)), h.runAfter(uintptr(first)+n)
		for k, need := range h.short.needs {
			if align.Up(from, 1<<k)+uintptr(need) <= to {
				h.short.needs[k] = 0
			}
		}
	}
}

// isEmpty reports whether the span of n units from first on has no live block. In memfast builds count must have been
// called.
func (h *Heap) isEmpty(first, n uintptr) bool {
	h.short.examined++
	if !invariant.Exact {
		return uint32(h.tally.of[first]) == h.carvedIn(first, n)
	}
	for i := first; i < first+n; i++ {
		if h.live[i]|h.oldWord(i) != 0 || h.central != nil && !h.central.lent.isHome(i*unitGranules) {
			return false
		}
	}
	return true
}

// runBefore returns the first unit of the run that ends before unit end, or one at least farthest units before end.
func (h *Heap) runBefore(end uintptr) uintptr {
	from := end
	for from > 0 && end-from < farthest {
		at := h.place[from-1]
		if at == vacant {
			from--
			continue
		}
		first := from - 1 - uintptr(at)
		if at == absent || !h.isEmpty(first, from-first) {
			break
		}
		from = first
	}
	return from
}

// runAfter returns the unit before which the run from unit start on ends, or one at least farthest units after start.
func (h *Heap) runAfter(start uintptr) uintptr {
	to, end := start, h.limit/unitGranules
	for to < end && to-start < farthest {
		if h.place[to] == vacant {
			to++
			continue
		}
		n := h.unitsOf(to)
		if h.place[to] == absent || !h.isEmpty(to, n) {
			break
		}
		to += n
	}
	return to
}

// hasRun reports whether a run of least units starts at a multiple of step.
func (h *Heap) hasRun(least, step uintptr) bool {
	from, end := uintptr(0), h.limit/unitGranules
	for i := uintptr(0); i < end; {
		n, empty := uintptr(1), h.place[i] == vacant
		if h.place[i] < absent {
			n = h.unitsOf(i)
			empty = h.isEmpty(i, n)
		}
		if i += n; !empty {
			from = i
		} else if align.Up(from, step)+least <= i {
			return true
		}
	}
	return false
}

// endReaches reports whether a request is met at limit, once limit is lowered below the empty spans there. Less is to be
// committed then, or nothing: endReaches commits it.
func (h *Heap) endReaches(least, step uintptr) bool {
	if !invariant.Exact && h.short.allocs != h.allocs() && h.lessAt(uintptr(h.short.tail), least, step) {
		h.countTail()
	}
	tail := uintptr(h.short.tail)
	if invariant.Exact {
		tail = h.runBefore(h.limit / unitGranules)
	}
	end := align.Up(tail, step) + least
	return h.lessAt(tail, least, step) && h.growBooks(end) == nil && h.mem.Ensure(end<<unitShift) == nil
}

// lessAt reports whether the reservation has space for least units behind tail, and they end before those behind limit.
func (h *Heap) lessAt(tail, least, step uintptr) bool {
	end := align.Up(tail, step) + least
	return end < align.Up(h.limit/unitGranules, step)+least && end<<unitShift <= h.mem.Reserved()
}

// countTail counts the free blocks of each span and finds the tail.
func (h *Heap) countTail() {
	h.count()
	h.short.tail, h.short.allocs = uint64(h.runBefore(h.limit/unitGranules)), h.allocs()
}

// checkShortage verifies that no run is longer than what is known, by the stacks. The rest of the heap must be sound.
func (h *Heap) checkShortage(r *findings.List) {
	if h.short.needs == [alignSteps]uint8{} || !invariant.Exact && h.short.frees != h.frees() {
		return
	}
	free, fresh := make([]uint32, len(h.place)), make([]bool, len(h.place)) // by the first unit of a span
	for i := range h.ladder.sizes {
		c, s := &h.classes[i], &h.shapes[i]
		for k, off := range c.free() {
			first := h.spanOf(off)
			free[first]++
			fresh[first] = fresh[first] || invariant.Exact && uint32(k) >= s.settled(c)
		}
	}
	from, end := uintptr(0), h.limit/unitGranules
	for i := uintptr(0); i < end; {
		n, empty := uintptr(1), h.place[i] == vacant
		if h.place[i] < absent {
			n = h.unitsOf(i)
			empty = free[i] == h.carvedIn(i, n) && !fresh[i]
		}
		if i += n; !empty {
			from = i
			continue
		}
		for k, need := range h.short.needs {
			if start := align.Up(from, 1<<k); need != 0 && start+uintptr(need) <= i {
				r.Add("units %d to %d are vacant or in empty spans, and a request for %d units counts as hopeless", start, i-1, need)
				return
			}
		}
	}
}
