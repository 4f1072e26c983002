package buddy

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// misuse describes what is wrong with p, or with size if Alloc returned p.
func (h *Heap) misuse(op string, p unsafe.Pointer, size uintptr) *memory.Misuse {
	return &memory.Misuse{Package: "buddy", Op: op, Addr: uintptr(p), Size: size, Reason: h.reason(p, size)}
}

func (h *Heap) reason(p unsafe.Pointer, size uintptr) string {
	if h.base == nil {
		return "the heap is closed"
	}
	if !h.mem.Contains(p) {
		return "the address does not lie in this heap"
	}
	byteAt := uintptr(p) - uintptr(h.base)
	unit := byteAt >> h.grain
	if unit >= uintptr(h.committed()) {
		return "the address lies beyond the committed memory, where no block is"
	}
	b := h.blockAt(uint32(unit))
	if h.entries[b.off].state&live == 0 {
		return "double free or stale pointer: the memory at this address is free"
	}
	at := h.pointerOf(b)
	start, e := h.grain.Bytes(at), &h.entries[at]
	if byteAt == start {
		return fmt.Sprintf("wrong size: the block was requested with %d bytes, not %d", e.next, size)
	}
	if byteAt < start {
		return fmt.Sprintf("not what Alloc returned: it lies in the padding of the block of %d bytes at %#x", e.next, uintptr(p)+(start-byteAt))
	}
	return fmt.Sprintf("interior pointer: it lies %d bytes into the block of %d bytes at %#x", byteAt-start, e.next, uintptr(p)-(byteAt-start))
}

// pointerOf returns the unit of the pointer that Alloc returned for the live block b.
func (h *Heap) pointerOf(b part) uint32 {
	at := b.off
	for h.entries[at].state&handed == 0 {
		at++
	}
	return at
}
