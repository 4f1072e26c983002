package buddy

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// Resize changes the size in bytes of a live block in place and reports whether it did. Shrinking always works: Resize
// frees the right parts that the block does not need. New bytes are not zeroed. A block can always grow within its
// rung. It can grow to a higher rung as long as it is the left part of its parent and the right part is free. Resize
// commits nothing. If Resize returns false, nothing has changed. Resize panics with a *memory.Misuse if p is nil, and
// for the misuse that [Heap.Free] detects. Cost: a split or a merge for each rung.
func (h *Heap) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	h.owner.Touch()
	at := h.grain.Index(h.base, p)
	if at >= uint64(len(h.entries)) || h.entries[at].state&handed == 0 || uintptr(h.entries[at].next) != oldSize {
		panic(h.misuse("Resize", p, oldSize))
	}
	if newSize > h.limit {
		return false
	}
	e := &h.entries[at]
	need := e.prev + h.grain.Count(newSize) // with the padding before the pointer
	start := uint32(at) - e.prev
	b := part{start, h.entries[start].rung, h.entries[start].side}
	before := h.ladder.size[b.rung]
	if need > before {
		top, ok := h.above(b, need)
		if !ok {
			return false
		}
		for b.rung < top {
			off, _ := h.ladder.buddy(b)
			b = h.ladder.parent(b, h.unlink(off).side)
		}
	} else {
		b = h.narrow(b, need)
	}
	h.entries[start].rung, h.entries[start].side = b.rung, b.side
	if invariant.Debug && newSize > oldSize {
		invariant.Fresh(unsafe.Add(p, oldSize), newSize-oldSize)
	}
	e.next = uint32(newSize)
	h.counts.Resized(before, h.ladder.size[b.rung], oldSize, newSize)
	return true
}

// above returns the rung of need units to which the live block b can grow in place, and whether there is one. It ends
// at the root: a block that starts there has no padding. Debug builds verify the poison of the blocks that it would
// merge with.
func (h *Heap) above(b part, need uint32) (rung uint8, ok bool) {
	for h.ladder.size[b.rung] < need {
		if b.side&right != 0 {
			return 0, false
		}
		off, rung := h.ladder.buddy(b)
		e := &h.entries[off]
		if e.state != free || e.rung != rung {
			return 0, false
		}
		h.verifyBuddy(part{off, rung, e.side})
		b = h.ladder.parent(b, e.side)
	}
	return b.rung, true
}

// narrow splits the live block b as long as its left part has need units. The right parts become free. Their buddy is
// live, so nothing merges.
func (h *Heap) narrow(b part, need uint32) part {
	for h.ladder.divisible(b) {
		left, rest := h.ladder.parts(b)
		if h.ladder.size[left.rung] < need {
			break
		}
		h.poison(rest.off, rest.off+h.ladder.size[rest.rung])
		h.link(rest)
		b = left
	}
	return b
}

// verifyBuddy panics if the free block p was written to while it was free. It fills the block again, so that the same
// call would succeed.
func (h *Heap) verifyBuddy(p part) {
	at, size := unsafe.Add(h.base, h.grain.Bytes(p.off)), h.grain.Bytes(h.ladder.size[p.rung])
	i, ok := invariant.Intact(at, size)
	if ok {
		return
	}
	b := *(*byte)(unsafe.Add(at, i))
	invariant.Freed(at, size)
	panic(&memory.Misuse{Package: "buddy", Op: "Resize", Addr: uintptr(at), Reason: fmt.Sprintf(
		"use after free or overflow: byte %d of the free block of %d bytes was written, with %#x", i, size, b)})
}
