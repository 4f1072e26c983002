package slab

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// freeRare frees what the first test of Free does not recognise, or says what is wrong: nil,
// blocks of Large, size 0, and blocks whose alignment called for a larger class.
//
//go:noinline
func (h *Heap) freeRare(p unsafe.Pointer, size uintptr) {
	if p == nil {
		return
	}
	off := uintptr(p) - uintptr(h.base)
	if h.base != nil && h.large != nil && size > h.maxSize() && !h.mem.Contains(p) {
		h.large.Free(p, size)
		return
	}
	if h.base == nil || off%granule != 0 || off>>granuleShift >= h.limit {
		panic(h.reject("Free", p, size))
	}
	off >>= granuleShift
	ci := *h.owner8(off)
	if !h.serves(ci, off, size) || !h.pushAny(&h.classes[ci], off) {
		panic(h.reject("Free", p, size))
	}
}

//go:noinline
func (h *Heap) freeAnyRare(p unsafe.Pointer) {
	if p == nil {
		return
	}
	if f, ok := h.large.(memory.AnyFreer); ok && h.base != nil && !h.mem.Contains(p) {
		f.FreeAny(p)
		return
	}
	if off := uintptr(p) - uintptr(h.base); h.base != nil && off%granule == 0 && off>>granuleShift < h.limit {
		if off >>= granuleShift; h.pushOld(&h.classes[*h.owner8(off)], off) {
			return
		}
	}
	panic(h.reject("FreeAny", p, 0))
}

// serves reports whether the block of class ci at granule off, which is live, may have been asked for
// with size bytes: whether its class serves the size, and in debug builds whether it was that size.
func (h *Heap) serves(ci uint8, off, size uintptr) bool {
	return h.ladder.serves(ci, size) && (!invariant.Debug || h.wasAsked(off, size))
}

// wasAsked reports whether the newest block at granule off was asked for with size bytes. Debug
// builds only. Safe for concurrent use.
func (h *Heap) wasAsked(off, size uintptr) bool { return h.lives.Size(off) == size }

// maxSize returns the largest request, in bytes, that is not passed on.
func (h *Heap) maxSize() uintptr { return uintptr(len(h.ladder.tab)) << granuleShift }

// lent returns the note of granule off, which lies below limit.
func (h *Heap) lent(off uintptr) uint8 {
	if h.central == nil {
		return home
	}
	return h.central.lent.state(off)
}

// reject says why op cannot work on p.
func (h *Heap) reject(op string, p unsafe.Pointer, size uintptr) *memory.Misuse {
	return &memory.Misuse{Package: "slab", Op: op, Addr: uintptr(p), Size: size, Reason: h.reason(op, p, size)}
}

// notLarge says why op, which Large cannot do, cannot work on p, which lies outside the reservation.
func (h *Heap) notLarge(op string, p unsafe.Pointer) string {
	what := "foreign pointer, or a block of Large"
	if o, ok := h.large.(memory.Owner); ok {
		if !o.Owns(p) {
			return "foreign pointer: it lies neither in this heap's reservation nor in Large"
		}
		what = "it lies in Large"
	}
	return fmt.Sprintf("%s, and a %T has no %s", what, h.large, op)
}

func (h *Heap) reason(op string, p unsafe.Pointer, size uintptr) string {
	off := uintptr(p) - uintptr(h.base)
	switch {
	case h.base == nil:
		return "the heap is closed"
	case op == "Reset":
		return fmt.Sprintf("%d caches of the heap are open and may contain its blocks: close them first", h.openCaches())
	case !h.mem.Contains(p) && h.large != nil && (op == "SizeOf" || op == "FreeAny"):
		return h.notLarge(op, p)
	case !h.mem.Contains(p):
		return fmt.Sprintf("foreign pointer: it does not lie in this heap's reservation of %d bytes", h.mem.Reserved())
	case off>>granuleShift >= h.limit:
		return "the block is not live: its memory was never allocated, or was freed by Reset or Trim"
	}
	unit := off >> unitShift
	if h.place[unit] >= absent {
		return "the block is not live: its span was empty and has been recycled"
	}
	ci := h.owned[unit]
	block := uintptr(h.ladder.sizes[ci])
	inside := off - (unit-uintptr(h.place[unit]))<<unitShift
	if rest := inside % block; rest != 0 {
		return fmt.Sprintf("interior pointer: it points %d bytes into a block of %d", rest, block)
	}
	if state := h.lent(off >> granuleShift); state == stashed {
		return fmt.Sprintf("the block of %d bytes is not live: double free, it lies in a cache", block)
	} else if sized := op == "Free" || op == "Resize"; state == used && (!sized || h.serves(ci, off>>granuleShift, size)) {
		return fmt.Sprintf("the block of %d bytes was handed out by the heap's Central or a Cache of it: use those", block)
	} else if state == home && invariant.Exact && !h.isLive(off>>granuleShift) {
		return fmt.Sprintf("the block of %d bytes is not live: double free, or never allocated", block)
	}
	if !invariant.Exact && h.classes[ci].n >= h.classes[ci].carved {
		return fmt.Sprintf("no block of %d bytes is live: double free", block)
	}
	if !h.ladder.serves(ci, size) {
		why := fmt.Sprintf("wrong size: no request of %d bytes is served from the class of %d", size, block)
		if invariant.Debug {
			why += fmt.Sprintf(", and the block was asked for with %d bytes", h.lives.Size(off>>granuleShift))
		}
		return why
	}
	return fmt.Sprintf("wrong size: the block was asked for with %d bytes", h.lives.Size(off>>granuleShift))
}
