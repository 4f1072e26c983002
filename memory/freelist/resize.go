package freelist

import (
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// Resize changes the size in bytes of a live block in place and reports whether it did. Shrinking always works. A block
// can grow beyond its last granule if enough free memory follows it. At the end of the heap Resize commits memory for
// this. New bytes are not zeroed. If Resize returns false, no block has changed. If the source ends during the commit,
// the heap is closed and Resize returns false. Resize panics with a *memory.Misuse if p is nil, and for the misuse that
// [Heap.Free] detects.
func (h *Heap) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	h.owner.Touch()
	at := h.grain.Index(h.base, p)
	if at >= uint64(len(h.live)) || h.live[at] == 0 || uintptr(h.live[at]-1) != oldSize {
		panic(h.misuse("Resize", p, oldSize))
	}
	if newSize > h.limit {
		return false
	}
	off, before, n := uint32(at), h.grain.Count(oldSize), h.grain.Count(newSize)
	if n > before && !h.extend(off, off+before, off+n) {
		return false
	}
	if n < before {
		h.poison(off+n, off+before)
		h.give(off+n, before-n)
	}
	if invariant.Debug && newSize > oldSize {
		invariant.Fresh(unsafe.Add(p, oldSize), newSize-oldSize)
	}
	h.live[off] = uint32(newSize) + 1
	h.counts.Resized(before, n, oldSize, newSize)
	return true
}

// extend removes the granules from end to newEnd from the free memory, if all of them are free or can be committed.
// They extend the block at off, which ends at end. A function of OnSoft may have freed or resized that block.
func (h *Heap) extend(off, end, newEnd uint32) bool {
	was := h.live[off]
	if newEnd > h.committed() && (h.tail() > end || h.grow(newEnd) != nil) {
		return false
	}
	k := h.after(end)
	if k == len(h.runs) || h.runs[k].off != end || h.runs[k].size < newEnd-end || h.live[off] != was {
		return false
	}
	if invariant.Debug {
		verify("Resize", unsafe.Add(h.base, h.grain.Bytes(end)), h.grain.Bytes(newEnd-end))
	}
	h.cut(k, end, newEnd-end)
	return true
}
