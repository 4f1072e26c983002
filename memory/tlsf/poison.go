package tlsf

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// In debug builds every byte of a free or waiting block is invariant.FreedByte. Memory is filled when it is
// committed, and a block when it is freed, to the end of its last granule. Splitting and merging write nothing. So
// any other byte was written through a dangling pointer or beyond a block, and Alloc can verify a block to its end.

// poison fills the granules from start to end of pool k, which are free now.
func (h *Heap) poison(k int, start, end uint32) {
	if invariant.Debug && end > start {
		invariant.Freed(unsafe.Add(h.pools[k].base, h.grain.Bytes(start)), h.grain.Bytes(end-start))
	}
}

// verify panics if the block i at p, which is on no list, was written to while it was free. It is filled and free
// again then, so the next Alloc can use it.
func (h *Heap) verify(i uint32, x *block, p unsafe.Pointer) {
	if m := written("Alloc", p, h.grain.Bytes(x.size)); m != nil {
		h.coalesce(i, x)
		panic(m)
	}
}

// verifyBehind is verify for the granules from before to n of the live block x at p, as far as they are free, before
// the block grows into them.
func (h *Heap) verifyBehind(x *block, p unsafe.Pointer, before, n uint32) {
	behind := &h.blocks[x.next]
	if !invariant.Debug || n <= before || behind.state != free {
		return
	}
	if m := written("Resize", unsafe.Add(p, h.grain.Bytes(before)), h.grain.Bytes(min(n-before, behind.size))); m != nil {
		panic(m)
	}
}

// written reports which of the size free bytes at p was written to, and fills them again. It returns nil if none was.
func written(op string, p unsafe.Pointer, size uintptr) *memory.Misuse {
	at, ok := invariant.Intact(p, size)
	if ok {
		return nil
	}
	b := *(*byte)(unsafe.Add(p, at))
	invariant.Freed(p, size)
	return &memory.Misuse{Package: "tlsf", Op: op, Addr: uintptr(p), Reason: fmt.Sprintf(
		"use after free or overflow: byte %d of %d free bytes was written, with %#x", at, size, b)}
}
