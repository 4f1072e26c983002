package slab

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// Resize changes the size of a live block in place. The parameter oldSize is the current size of the block, as passed
// to Free. If Resize returns true, newSize is the size to pass to Free. Resize succeeds only within the size class of
// the block: Alloc must use this class for newSize bytes with at least one alignment. Resize never moves a block. If
// Resize cannot change the size, it returns false and changes nothing.
//
// A block above MaxSize is resized by Config.Large, to a size above MaxSize, if Large is a memory.Resizer. If Large
// is no Resizer, or newSize is not above MaxSize, Resize returns false.
//
// Misuse panics with a *memory.Misuse, as in Free. A nil p is misuse, too. If oldSize is above MaxSize and p is outside
// the reservation, Resize of Large checks p and oldSize. If Large is no Resizer, Owns of Large checks p, and SizeOf of
// Large checks oldSize, if Large has these methods. Cost: a few table lookups.
func (h *Heap) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	h.owner.Touch()
	if h.base != nil && h.large != nil && oldSize > h.maxSize() && !h.mem.Contains(p) {
		return h.resizeLarge(p, oldSize, newSize)
	}
	off, ok := h.granule(p)
	if !ok || h.place[off/unitGranules] >= absent || invariant.Exact && !h.isLive(off) || !h.serves(*h.owner8(off), off, oldSize) {
		panic(h.reject("Resize", p, oldSize))
	}
	return h.resized(*h.owner8(off), off, newSize)
}

// resized reports whether the live block of class ci at granule off can have size bytes, and in
// debug builds notes that it has. Safe for concurrent use.
func (h *Heap) resized(ci uint8, off, size uintptr) bool {
	if !h.ladder.serves(ci, size) {
		return false
	}
	if invariant.Debug {
		h.lives.Resize(off, size)
	}
	return true
}

// resizeLarge resizes a block of Large. What has MaxSize or less is freed here, and so it must
// lie here; then Large is only asked whether the block is one.
func (h *Heap) resizeLarge(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	r, ok := h.large.(memory.Resizer)
	if !ok {
		h.askLarge(p, oldSize)
		return false
	}
	h.passing = true
	defer func() { h.passing = false }()
	if newSize <= h.maxSize() {
		r.Resize(p, oldSize, oldSize)
		return false
	}
	return r.Resize(p, oldSize, newSize)
}

// askLarge panics where a Large that cannot resize knows that p is no block of size bytes: who is
// told false reads the block to move it.
func (h *Heap) askLarge(p unsafe.Pointer, size uintptr) {
	if o, ok := h.large.(memory.Owner); ok && !o.Owns(p) {
		panic(h.reject("Resize", p, size))
	}
	if z, ok := h.large.(memory.Sizer); ok {
		if has := z.SizeOf(p); has < size {
			panic(&memory.Misuse{Package: "slab", Op: "Resize", Addr: uintptr(p), Size: size,
				Reason: fmt.Sprintf("wrong size: the block of Large has %d bytes", has)})
		}
	}
}

// Resize changes the size of a live block in place and reports whether it did. It returns false and panics as
// [Heap.Resize] does. Safe for concurrent use.
func (c *Central) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.heap
	off, ok := h.granule(p)
	if !ok || c.lent.state(off) == home {
		return h.Resize(p, oldSize, newSize)
	}
	if c.lent.state(off) != used || !h.serves(*h.owner8(off), off, oldSize) {
		panic(h.reject("Resize", p, oldSize))
	}
	return h.resized(*h.owner8(off), off, newSize)
}

// Resize changes the size of a live block in place and reports whether it did. It returns false and panics as
// [Heap.Resize] does.
func (c *Cache) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	if c.stashes == nil {
		panic(c.closed("Resize", p))
	}
	c.owner.Touch()
	off := uintptr(p) - uintptr(c.base)
	if off%granule == 0 && off>>granuleShift < c.span {
		off >>= granuleShift
		if n := c.lent.at(off); n != nil && (!invariant.Exact || n.state(off) == used) {
			if ci := c.owned[off/unitGranules]; c.central.heap.serves(ci, off, oldSize) {
				return c.central.heap.resized(ci, off, newSize)
			}
		}
	}
	return c.central.Resize(p, oldSize, newSize) // of Large, older than the Central, or misuse
}
