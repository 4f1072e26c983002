package slab

import (
	"math"

	"github.com/strata-go/strata/memory/page"
)

// A sweep takes the empty spans of a class that holds many free blocks, in slices. It looks at the bottom of the
// class's stack only, at the blocks that were freed first and not used since. There are two passes over these
// entries: the first counts the blocks of each span, the second moves the blocks of empty spans to the bottom. Then
// these blocks leave the stack.
//
// In between blocks are allocated and freed. The entries stay as they are as long as the stack is never less deep
// than they are many. Its depth was at least that after the last step less the number of allocations since. If that is
// too little, the sweep of this class ends. Nothing is lost then: the order of free blocks has no meaning.
type sweep struct {
	round
	allocs [maxClasses]uint64 // of each class at the last step
	recent [maxClasses]uint32 // allocations between the last two steps
	tried  [maxClasses]bool   // in this round; all false unless it is under way
	tally  []uint16
	spans  []uint32 // that were found empty
}

// A round is what a sweep has without its lists. It has no padding, and is saved by one copy.
type round struct {
	at     uint32 // the next entry of the pass
	cold   uint32 // entries that the sweep looks at
	gone   uint32 // of these, the blocks of empty spans, at the bottom
	wanted uint32 // blocks of the spans that were found empty
	depth  uint32 // of the stack after the last step
	units  uint32 // below limit when the sweep began: entries lie in these
	on     bool   // only while noted
	noted  bool   // a round is under way
	full   bool   // more spans were found empty
	class  uint8
	pass   uint8
	_      [3]uint8
}

const (
	passCount = iota
	passMove
	passEnd

	// sweepLeast is the least number of bytes in cold blocks for a sweep.
	sweepLeast = 16 << 10

	// sweepMost bounds the spans that become vacant at once.
	sweepMost = 2048

	// counted marks, in the tally, a span that has live or warm blocks.
	counted = emptied - 1
)

// Sweep recycles spans without a live block, in small steps: Trim recycles all of them at once. A round of calls visits
// the free blocks. The first call of a round visits none. Each other call visits up to the given number of blocks. A
// number below 1 counts as 1. Sweep returns true if the round has not ended. Call Sweep until it returns false, then
// [Heap.TrimStep]. The next Sweep begins a new round. Sweep recycles only spans whose blocks were not used for some
// time. It skips size classes with less than 16 KiB of such blocks.
//
// Sweep does nothing and returns false for a closed heap, and for the heap of a [Central]. The same holds if the
// function of page.Limit.OnSoft calls Sweep during an Alloc of this heap.
//
// Cost: about 3 ns for each visited block. The call that begins a size class also clears 2 bytes of metadata for each
// KiB in use. The call that finishes a size class also recycles up to 2,048 spans, and moves up to 4 bytes for each
// free block that stays. Sweep allocates its metadata on the Go heap. If the Go heap has no space for it, Sweep ends the
// round.
func (h *Heap) Sweep(blocks int) (more bool) {
	if h.base == nil || h.central != nil || h.undo.on {
		return false
	}
	h.owner.Touch()
	s := &h.sweep
	for i := range h.ladder.sizes {
		now := h.classes[i].allocs
		s.recent[i] = uint32(min(now-s.allocs[i], 1<<30))
		s.allocs[i] = now
	}
	if !s.noted {
		// A state between two rounds has none of this, so it is the same after a load. From now on recent is of one step.
		clear(s.recent[:])
		s.round, s.spans = round{noted: true}, s.spans[:0]
		return true
	}
	if s.on && s.depth < s.cold+s.recent[s.class] {
		s.on = false
	}
	if !s.on && !h.beginSweep() {
		clear(s.tried[:])
		s.noted = false
		return false
	}
	for left := uint32(min(max(blocks, 1), math.MaxInt32)); left > 0 && s.on; {
		n := min(left, s.cold-s.at)
		h.sweepSlice(n)
		left -= n
		if s.at += n; s.at == s.cold {
			s.pass, s.at = s.pass+1, 0
		}
		if s.pass == passEnd {
			h.endSweep()
		}
	}
	s.depth = h.classes[s.class].n
	return true
}

// beginSweep chooses the class with the most bytes in cold blocks.
func (h *Heap) beginSweep() bool {
	s, most := &h.sweep, uint64(0)
	for i, size := range h.ladder.sizes {
		n := h.classes[i].n
		warm := n/8 + 4*min(s.recent[i], n) + 1
		if s.tried[i] || n <= warm {
			continue
		}
		if bytes := uint64(n-warm) * uint64(size); bytes > most && bytes >= sweepLeast {
			s.class, s.cold, most = uint8(i), n-warm, bytes
		}
	}
	if most == 0 {
		return false
	}
	if uintptr(len(s.tally)) < h.limit/unitGranules {
		n := max(h.tallied(), uintptr(len(h.tally.of))) // as far ahead, so that a heap that grows seldom needs another
		if page.ProbeHeap(n*tallyBytes) != nil {
			return false
		}
		s.tally = make([]uint16, n)
	}
	s.on, s.tried[s.class] = true, true
	s.units = uint32(h.limit / unitGranules)
	clear(s.tally[:s.units])
	s.pass, s.at, s.gone, s.wanted, s.full, s.spans = passCount, 0, 0, 0, false, s.spans[:0]
	return true
}

// sweepSlice does the present pass for the next n entries.
func (h *Heap) sweepSlice(n uint32) {
	s := &h.sweep
	free := h.classes[s.class].free()
	for i := s.at; i < s.at+n; i++ {
		first := h.spanOf(free[i])
		switch s.pass {
		case passCount:
			s.tally[first]++
		case passMove:
			if s.tally[first] < counted {
				h.judge(uintptr(first))
			}
			if s.tally[first] == emptied {
				free[i], free[s.gone] = free[s.gone], free[i]
				h.short.forget()
				s.gone++
			}
		}
	}
}

// judge decides whether the span that starts at first is empty: all its blocks are cold and free. The newest span of
// the class counts as not empty while it has blocks to come.
func (h *Heap) judge(first uintptr) {
	s, c := &h.sweep, &h.classes[h.sweep.class]
	blocks := h.carvedIn(first, h.unitsOf(first))
	empty := uint32(s.tally[first]) == blocks && (c.bump == c.end || uintptr(h.spanOf(c.bump)) != first)
	if empty && len(s.spans) == sweepMost {
		empty, s.full = false, true
	}
	if s.tally[first] = counted; empty {
		s.tally[first] = emptied
		s.spans = append(s.spans, uint32(first))
		s.wanted += blocks
	}
}

// endSweep takes the blocks at the bottom of the stack off it and makes their spans vacant.
func (h *Heap) endSweep() {
	s := &h.sweep
	s.on, s.tried[s.class] = false, !s.full
	if s.gone == 0 || s.gone != s.wanted {
		return
	}
	c, sh := &h.classes[s.class], &h.shapes[s.class]
	h.peak = max(h.peak, h.carved)
	h.undo.broken = true
	h.short.forget()
	free := c.free()
	for _, first := range s.spans {
		n := h.unitsOf(uintptr(first))
		sh.units -= uint32(n)
		sh.blocks -= uint32(n*unitGranules) / sh.size
		h.vacateSpan(uintptr(first))
	}
	// Other cold blocks fill the gap; the warm ones keep their order.
	move := min(s.gone, s.cold-s.gone)
	copy(free[:move], free[s.cold-move:s.cold])
	copy(free[s.cold-s.gone:], free[s.cold:])
	c.n -= s.gone
	c.carved -= s.gone
	h.carved -= uint64(s.gone) * uint64(sh.size) << granuleShift
	h.lower()
}
