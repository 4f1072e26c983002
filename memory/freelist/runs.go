package freelist

import (
	"errors"
	"fmt"
	"slices"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
)

// A Policy selects the free run that serves a request, among those that are large enough.
type Policy uint8

const (
	// FirstFit uses the run with the lowest address. Blocks gather at the front and free memory at the end, where
	// Trim can return it.
	FirstFit Policy = iota

	// NextFit uses the first run after the place of the last allocation, and continues at the front after the last
	// run. Searches are short, but small blocks spread over the whole heap.
	NextFit

	// BestFit uses the smallest run that is large enough. Of several such runs of equal size it uses the run with the
	// lowest address. It reads the whole list unless a run fits exactly.
	BestFit

	// WorstFit uses the largest run, so that the rest of the run stays useful. Of several largest runs it uses the run
	// with the lowest address. WorstFit splits the large runs first, so it needs the most memory of the four policies.
	// It always reads the whole list. It exists for comparison.
	WorstFit
)

// String returns the name of the policy, or "Policy(n)" for an unknown policy.
func (p Policy) String() string {
	switch p {
	case FirstFit:
		return "FirstFit"
	case NextFit:
		return "NextFit"
	case BestFit:
		return "BestFit"
	case WorstFit:
		return "WorstFit"
	}
	return fmt.Sprintf("Policy(%d)", uint8(p))
}

// A run is free memory between two live blocks, in granules from base.
type run struct{ off, size uint32 }

// holds reports whether n granules at a multiple of step lie in r.
func (r run) holds(n, step uint32) bool { return align.UpTo(r.off, step)-r.off+n <= r.size }

// search returns the number of the run that the policy selects for n granules at a multiple of step, or -1. A function
// value in the heap instead of the switch is as fast.
func (h *Heap) search(n, step uint32) int {
	switch h.policy {
	case NextFit:
		k := h.after(h.rover)
		if i := firstFit(h.runs[k:], n, step); i >= 0 {
			return k + i
		}
		return firstFit(h.runs[:k], n, step)
	case BestFit:
		return bestFit(h.runs, n, step)
	case WorstFit:
		return worstFit(h.runs, n, step)
	default:
		return firstFit(h.runs, n, step)
	}
}

func firstFit(runs []run, n, step uint32) int {
	for i, r := range runs {
		if r.size >= n && r.holds(n, step) {
			return i
		}
	}
	return -1
}

func bestFit(runs []run, n, step uint32) int {
	best, least := -1, ^uint32(0)
	for i, r := range runs {
		if r.size < n || r.size >= least || !r.holds(n, step) {
			continue
		}
		best, least = i, r.size
		if least == n {
			break
		}
	}
	return best
}

func worstFit(runs []run, n, step uint32) int {
	worst, most := -1, n-1
	for i, r := range runs {
		if r.size > most && r.holds(n, step) {
			worst, most = i, r.size
		}
	}
	return worst
}

// after returns the number of the first run that ends behind off, by binary search.
func (h *Heap) after(off uint32) int {
	lo, hi := 0, len(h.runs)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if r := h.runs[mid]; r.off+r.size <= off {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// cut removes n granules at off from run k. The granules before and behind stay free.
func (h *Heap) cut(k int, off, n uint32) {
	r := &h.runs[k]
	front := off - r.off
	behind := run{off + n, r.size - front - n}
	switch {
	case front > 0 && behind.size > 0:
		r.size = front
		h.runs = slices.Insert(h.runs, k+1, behind)
	case front > 0:
		r.size = front
	case behind.size > 0:
		*r = behind
	default:
		h.runs = slices.Delete(h.runs, k, k+1)
	}
}

// give makes n granules at off free and merges them with the runs that they touch.
func (h *Heap) give(off, n uint32) {
	k := h.after(off)
	joinsFront := k > 0 && h.runs[k-1].off+h.runs[k-1].size == off
	joinsBehind := k < len(h.runs) && h.runs[k].off == off+n
	switch {
	case joinsFront && joinsBehind:
		h.runs[k-1].size += n + h.runs[k].size
		h.runs = slices.Delete(h.runs, k, k+1)
	case joinsFront:
		h.runs[k-1].size += n
	case joinsBehind:
		h.runs[k] = run{off, n + h.runs[k].size}
	default:
		h.runs = slices.Insert(h.runs, k, run{off, n})
	}
}

// committed returns the number of committed granules.
func (h *Heap) committed() uint32 { return uint32(h.mem.Committed() >> h.grain) }

// tail returns where the free memory at the end starts, in granules.
func (h *Heap) tail() uint32 {
	end := h.committed()
	if k := len(h.runs) - 1; k >= 0 && h.runs[k].off+h.runs[k].size == end {
		return h.runs[k].off
	}
	return end
}

// errFull is the error of grow if the reservation is full. Nothing below the heap has refused, so Alloc names no Cause.
var errFull = errors.New("the reservation is full")

// grow commits memory up to granule end at least, as free memory. If it fails, nothing has changed.
func (h *Heap) grow(end uint32) error {
	before := h.committed()
	if most := uint64(len(h.live)); uint64(end) > most { // in bytes it may be beyond the address space
		return errFull
	}
	if err := h.mem.Ensure(h.grain.Bytes(end)); err != nil {
		return err
	}
	if h.base == nil { // a function that the source has called has closed the heap
		return memory.ErrClosed
	}
	if now := h.committed(); now > before {
		h.poison(before, now)
		h.give(before, now-before)
	}
	return nil
}

// largestFree returns the largest request in bytes that a run can serve.
func (h *Heap) largestFree() uintptr {
	var most uint32
	for _, r := range h.runs {
		most = max(most, r.size)
	}
	return min(h.grain.Bytes(most), h.limit)
}
