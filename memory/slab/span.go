package slab

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// vacant marks, in place, a slab below limit that belongs to no class.
const vacant = 0xFF

// noClass is the owner of a vacant slab: no size is served from it, and it has no room for a
// free block, so that memfast builds refuse what is freed there. Step16 up to 4096 bytes uses
// it as a class, and goes without that.
const noClass = maxClasses - 1

// carveBatch is how many blocks refill carves at once: enough that the slow path is rare in a
// cold heap, few enough that what no one asks for stays untouched.
const carveBatch = 32

// refill gives a class whose stack is empty at least one free block. On error nothing has
// changed but that other classes may have lost empty slabs. Blocks that were freed meanwhile,
// as by the function of a [page.Limit.OnSoft], stay below the new ones.
func (h *Heap) refill(ci uint8) error {
	if h.base == nil {
		return memory.ErrClosed
	}
	c, s := &h.classes[ci], &h.shapes[ci]
	if c.bump == c.end {
		first, err := h.takeSpan(uintptr(s.slabs))
		if err != nil {
			return err
		}
		h.assign(ci, first)
	}
	k := min(carveBatch, (c.end-c.bump)/s.size)
	stack := unsafe.Slice((*uint32)(c.stack), c.n+k)[c.n:]
	for i := range stack { // ascending addresses come off the stack first
		stack[i] = c.bump + (k-1-uint32(i))*s.size
	}
	c.n += k
	c.carved += k
	c.bump += k * s.size
	h.carved += uint64(k*s.size) << granuleShift
	return nil
}

// assign makes the slabs from first on a span of class ci, and makes room on the stack for
// all its blocks: Free must never grow it.
func (h *Heap) assign(ci uint8, first uintptr) {
	c, s := &h.classes[ci], &h.shapes[ci]
	for i := range uintptr(s.slabs) {
		h.owned[first+i] = ci
		h.place[first+i] = uint8(i)
	}
	s.spans++
	c.bump = uint32(first * slabGranules)
	c.end = c.bump + s.blocks*s.size
	if need := s.spans * s.blocks; need > s.capacity {
		s.capacity = max(need, 2*s.capacity)
		stack := make([]uint32, s.capacity)
		copy(stack, c.free()) // next to always nothing
		c.stack = unsafe.Pointer(unsafe.SliceData(stack))
	}
}

// takeSpan finds n slabs in a row: recycled ones, then fresh ones, and when memory is refused
// those that reclaim can take from other classes.
func (h *Heap) takeSpan(n uintptr) (first uintptr, err error) {
	if first, ok := h.takeVacant(n); ok {
		return first, nil
	}
	if first, err = h.takeFresh(n); err == nil {
		return first, nil
	}
	if h.reclaim() == 0 {
		return 0, err
	}
	if first, ok := h.takeVacant(n); ok {
		return first, nil
	}
	return h.takeFresh(n)
}

// takeVacant takes the first n vacant slabs in a row. Cost: the slabs above lowest.
func (h *Heap) takeVacant(n uintptr) (first uintptr, ok bool) {
	if h.vacant < n {
		return 0, false
	}
	first, ok = h.vacantRun(n)
	if !ok {
		return 0, false
	}
	h.vacant -= n
	if first == h.lowest || n == 1 {
		h.lowest = first + n
	}
	return first, true
}

func (h *Heap) vacantRun(n uintptr) (first uintptr, ok bool) {
	run := uintptr(0)
	for i := h.lowest; i < h.limit/slabGranules; i++ {
		run++
		if h.place[i] != vacant {
			run = 0
		}
		if run == n {
			return i + 1 - n, true
		}
	}
	return 0, false
}

// takeFresh takes the n slabs at limit. In debug builds what was not in use before is filled
// as freed blocks are; what a Reset or reclaim left has been, and if a stale pointer has
// written there since, the block's Alloc will say so.
func (h *Heap) takeFresh(n uintptr) (first uintptr, err error) {
	if err := h.mem.Ensure((h.limit/slabGranules + n) << slabShift); err != nil {
		return 0, err
	}
	first = h.limit / slabGranules // now: the source may have called what trims or resets
	h.limit += n * slabGranules
	if invariant.Debug && h.limit > h.poisoned {
		from := max(h.poisoned, first*slabGranules)
		invariant.Freed(unsafe.Add(h.base, from<<granuleShift), (h.limit-from)<<granuleShift)
		h.poisoned = h.limit
	}
	return first, nil
}
