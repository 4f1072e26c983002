package freelist

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// In debug builds every byte of a run is invariant.FreedByte. New memory is filled when it is committed, and a block,
// up to the end of its last granule, when it is freed. Cutting and merging do not change it.

// poison fills the granules from start to end, which were not free until now.
func (h *Heap) poison(start, end uint32) {
	if invariant.Debug && end > start {
		invariant.Freed(unsafe.Add(h.base, h.grain.Bytes(start)), h.grain.Bytes(end-start))
	}
}

// verify panics if the size free bytes at p were written to. It fills them again, so that the next call can allocate
// them.
func verify(op string, p unsafe.Pointer, size uintptr) {
	at, ok := invariant.Intact(p, size)
	if ok {
		return
	}
	b := *(*byte)(unsafe.Add(p, at))
	invariant.Freed(p, size)
	panic(&memory.Misuse{Package: "freelist", Op: op, Addr: uintptr(p), Reason: fmt.Sprintf(
		"use after free or overflow: byte %d of %d free bytes was written, with %#x", at, size, b)})
}
