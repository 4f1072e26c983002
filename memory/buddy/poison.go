package buddy

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// In debug builds every byte of a free block is invariant.FreedByte. New memory is filled when it is committed, and a
// block with its padding when it is freed. Splitting and merging do not change it.

// poison fills the units from start to end, which were not free until now.
func (h *Heap) poison(start, end uint32) {
	if invariant.Debug && end > start {
		invariant.Freed(unsafe.Add(h.base, h.grain.Bytes(start)), h.grain.Bytes(end-start))
	}
}

// verify panics if the block p, which is on no list, was written to while it was free. It fills and frees the block
// again, so that the next Alloc can use it.
func (h *Heap) verify(p part) {
	at, size := unsafe.Add(h.base, h.grain.Bytes(p.off)), h.grain.Bytes(h.ladder.size[p.rung])
	i, ok := invariant.Intact(at, size)
	if ok {
		return
	}
	b := *(*byte)(unsafe.Add(at, i))
	invariant.Freed(at, size)
	h.give(p)
	panic(&memory.Misuse{Package: "buddy", Op: "Alloc", Addr: uintptr(at), Reason: fmt.Sprintf(
		"use after free or overflow: byte %d of the free block of %d bytes was written, with %#x", i, size, b)})
}
