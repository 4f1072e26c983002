package slab

import (
	"bytes"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// absent marks, in place, a vacant unit whose memory was returned to the source. Its owner is noClass, as that of a
// vacant unit. No search for vacant units finds it: it becomes vacant when its memory is committed again.
const absent = vacant - 1

// fillStep is how many bytes of absent units are committed at once, if so many follow: few system calls when a load
// returns.
const fillStep = 64 << 10

// TrimStep decommits at most `most` bytes of unused memory, or one page if a page is larger. It returns the number of
// decommitted bytes, or 0 if there is no unused page. The first steps decommit memory above the highest span in use.
// Later steps decommit memory between spans. If the source prefers a boundary for commits, as with huge pages, the
// bytes between two boundaries count as a page. TrimStep recycles no spans: see [Heap.Sweep]. Alloc commits the memory
// again when it needs it. TrimStep does nothing and returns 0 for the heap of a [Central], and during a call of the
// page source.
//
// If the page source fails, the error wraps the source's error, and nothing has changed. Cost: one call of the source,
// and a byte read for each KiB in use. After a failed load, TrimStep may call the source a second time, to return
// memory that the load has left committed. The result does not count this memory.
func (h *Heap) TrimStep(most uintptr) (uintptr, error) {
	if h.base == nil {
		return 0, memory.ErrClosed
	}
	if h.central != nil || h.mem.Busy() {
		return 0, nil
	}
	h.owner.Touch()
	h.undo.broken = true
	n, err := h.trimTail(most)
	if n == 0 && err == nil {
		n, err = h.dropVacant(most)
	}
	if err != nil {
		return 0, fmt.Errorf("slab: trim step: %w", err)
	}
	return n, nil
}

// trimTail returns memory behind limit, after it has lowered limit below the absent units at its end.
func (h *Heap) trimTail(most uintptr) (uintptr, error) {
	for {
		end := h.mem.Committed()
		_, keep := h.mem.Around(0, h.limit<<granuleShift)
		if keep < end && end-keep > most {
			if _, keep = h.mem.Around(0, end-most); keep == end { // a unit of the source is larger
				keep, _ = h.mem.Around(end-1, end)
			}
		}
		if keep < end {
			if err := h.mem.Trim(keep); err != nil {
				return 0, err
			}
			h.poisoned = min(h.poisoned, h.mem.Committed()>>granuleShift)
			return end - h.mem.Committed(), nil
		}
		if !h.lowerAbsent() {
			return 0, nil
		}
	}
}

// lowerAbsent takes limit below the absent and then the vacant units at its end, and reports whether one was absent.
func (h *Heap) lowerAbsent() bool {
	units := h.limit / unitGranules
	end := units
	for end > 0 && h.place[end-1] == absent {
		end--
	}
	if end == units {
		return false
	}
	h.vacateUnits(end, units)
	h.absent -= units - end
	h.limit = end * unitGranules
	_ = h.mem.Trim(end << unitShift) // only holes: no call of the source
	h.lower()
	h.poisoned = min(h.poisoned, h.limit)
	return true
}

// dropVacant returns whole pages of vacant units between spans.
func (h *Heap) dropVacant(most uintptr) (uintptr, error) {
	end := h.limit / unitGranules
	for i := h.lowest; i < end && h.vacant > 0; {
		hole := bytes.IndexByte(h.place[i:end], vacant)
		if hole < 0 {
			break
		}
		first := i + uintptr(hole)
		for i = first; i < end && h.place[i] == vacant; i++ {
		}
		from, to := h.mem.Droppable(first<<unitShift, i<<unitShift)
		if from == to {
			continue
		}
		if to-from > most {
			if first, last := h.mem.Droppable(from, from+most); first < last {
				to = last
			} else {
				_, to = h.mem.Around(from, from+1)
			}
		}
		return h.drop(from, to)
	}
	return 0, nil
}

// drop makes the vacant units of the bytes [from, to) absent. They are vacant again if the source fails or panics.
func (h *Heap) drop(from, to uintptr) (uintptr, error) {
	first, end := from>>unitShift, to>>unitShift
	h.mark(first, end, absent)
	done := false
	defer func() {
		if !done && h.base != nil {
			h.mark(first, end, vacant)
		}
	}()
	if err := h.mem.Drop(from, to-from); err != nil {
		return 0, err
	}
	done = true
	return to - from, nil
}

// mark makes vacant units absent, or absent ones vacant, and counts them. If a request is under way that may be
// undone, it counts for the state before as well.
func (h *Heap) mark(first, end uintptr, as uint8) {
	n := end - first
	for i := range n {
		h.place[first+i] = as
	}
	if as == vacant {
		h.vacant, h.absent, h.undo.vacant = h.vacant+n, h.absent-n, h.undo.vacant+n
		h.lowest, h.undo.lowest = min(h.lowest, first), min(h.undo.lowest, first)
		h.short.forget()
		return
	}
	h.vacant, h.absent = h.vacant-n, h.absent+n
}

// takeAbsent commits absent units again for a span of least to most units, and takes it. It returns no units if there
// are not so many in a row, or if the source refuses, which is the error. Cost: a byte read for each KiB in use.
func (h *Heap) takeAbsent(size, least, most uintptr) (run, error) {
	if h.absent == 0 {
		return run{}, nil
	}
	step, end := spanStep(size), h.limit/unitGranules
	for i := uintptr(0); i < end; {
		hole := bytes.IndexByte(h.place[i:end], absent)
		if hole < 0 {
			break
		}
		first := i + uintptr(hole)
		for i = first; i < end && h.place[i] >= absent; i++ {
		}
		for first > 0 && h.place[first-1] == vacant {
			first--
		}
		at := align.Up(first, step)
		if at+least > i {
			continue
		}
		if ok, err := h.fill(at, at+least, at+min(most, i-at)); !ok {
			return run{}, err
		}
		return h.takeVacant(size, least, most), nil
	}
	return run{}, nil
}

// fill commits what is absent of the units from first to most, at least fillStep bytes at once if so many follow. If
// the source refuses, fill commits only what is absent from first to least. It asks for no refused range again.
func (h *Heap) fill(first, least, most uintptr) (ok bool, err error) {
	refused := ^uintptr(0) // where the refused range ended
	for end, step := most, uintptr(fillStep); h.base != nil && first <= h.limit/unitGranules; {
		hole := bytes.IndexByte(h.place[first:min(end, h.limit/unitGranules)], absent)
		if hole < 0 {
			return true, nil
		}
		at := first + uintptr(hole)
		low, high := at, at
		for low > 0 && h.place[low-1] == absent {
			low--
		}
		for high < h.limit/unitGranules && h.place[high] == absent {
			high++
		}
		from, to := h.mem.Around(at<<unitShift, max(min(end, high)<<unitShift, at<<unitShift+step))
		from, to = max(from, low<<unitShift), min(to, high<<unitShift)
		if to == refused {
			return false, err
		}
		if err = h.mem.Fill(from, to-from); err != nil {
			refused, end, step = to, least, 0
			continue
		}
		// A function of OnSoft may have freed blocks, or all by Reset. But what is absent stays below limit.
		h.mark(from>>unitShift, to>>unitShift, vacant)
		if invariant.Debug {
			invariant.Freed(unsafe.Add(h.base, from), to-from)
		}
	}
	return false, err
}

// readHoles makes the units absent, in a heap without spans, whose memory is not there, and those between them vacant.
func (h *Heap) readHoles() {
	h.limit, h.vacant, h.lowest, h.absent = 0, 0, 0, 0
	for off := uintptr(0); ; {
		from, to := h.mem.NextHole(off)
		if from == to {
			break
		}
		for i := from >> unitShift; i < to>>unitShift; i++ {
			h.place[i] = absent
		}
		h.absent += (to - from) >> unitShift
		h.limit = to >> granuleShift
		off = to
	}
	h.vacant = h.limit/unitGranules - h.absent
}

// poisonUnits fills what is there of the units below end.
func (h *Heap) poisonUnits(end uintptr) {
	for i := uintptr(0); i < end; {
		from := i
		for i < end && h.place[i] != absent {
			i++
		}
		invariant.Freed(unsafe.Add(h.base, from<<unitShift), (i-from)<<unitShift)
		for i < end && h.place[i] == absent {
			i++
		}
	}
}
