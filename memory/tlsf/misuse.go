package tlsf

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// misuse says what is wrong with p, or with size if p is a live block's start. It may walk
// the pool: the program is about to stop.
func (h *Heap) misuse(op string, p unsafe.Pointer, size uintptr) *memory.Misuse {
	return &memory.Misuse{Package: "tlsf", Op: op, Addr: uintptr(p), Size: size, Reason: h.reason(p, size)}
}

func (h *Heap) reason(p unsafe.Pointer, size uintptr) string {
	if h.closed {
		return "the heap is closed"
	}
	pl := h.poolOf(p)
	if pl == nil {
		return "the address lies in no pool of this heap"
	}
	if i := h.startOf(p); i != 0 {
		return fmt.Sprintf("wrong size: the block was requested with %d bytes, not %d", h.blocks[i].req, size)
	}
	at := uintptr(p) - uintptr(pl.base)
	x := h.blockAt(pl, uint32(at>>h.grain))
	if x == nil {
		return "the address lies beyond the committed memory, where no block is"
	}
	if x.state != live {
		return "double free or stale pointer: the memory at this address is free"
	}
	into := at - h.grain.Bytes(x.off)
	return fmt.Sprintf("interior pointer: it lies %d bytes into the block of %d bytes at %#x", into, x.req, uintptr(p)-into)
}

// blockAt returns the block that covers a granule, or nil. Cost: proportional to the blocks.
func (h *Heap) blockAt(pl *pool, granule uint32) *block {
	for k := range h.poolCount {
		if &h.pools[k] != pl {
			continue
		}
		for i, left := h.blocks[k].next, len(h.blocks); i != uint32(k) && left > 0; left-- {
			x := &h.blocks[i]
			if granule-x.off < x.size {
				return x
			}
			i = x.next
		}
	}
	return nil
}
