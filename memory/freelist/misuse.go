package freelist

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// misuse describes what is wrong with p, or with size if a live block starts at p. It may search the metadata, because
// the program is about to stop.
func (h *Heap) misuse(op string, p unsafe.Pointer, size uintptr) *memory.Misuse {
	return &memory.Misuse{Package: "freelist", Op: op, Addr: uintptr(p), Size: size, Reason: h.reason(p, size)}
}

func (h *Heap) reason(p unsafe.Pointer, size uintptr) string {
	if h.base == nil {
		return "the heap is closed"
	}
	if !h.mem.Contains(p) {
		return "the address does not lie in this heap"
	}
	at := uintptr(p) - uintptr(h.base)
	if at >= h.mem.Committed() {
		return "the address lies beyond the committed memory, where no block is"
	}
	off := uint32(at >> h.grain)
	for off > 0 && h.live[off] == 0 { // the nearest start before it
		off--
	}
	n := h.live[off]
	if n == 0 || at >= h.grain.Bytes(off+h.grain.Count(uintptr(n-1))) {
		return "double free or stale pointer: the memory at this address is free"
	}
	into := at - h.grain.Bytes(off)
	if into == 0 {
		return fmt.Sprintf("wrong size: the block was requested with %d bytes, not %d", n-1, size)
	}
	return fmt.Sprintf("interior pointer: it lies %d bytes into the block of %d bytes at %#x", into, n-1, uintptr(p)-into)
}
