package tlsf

import (
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// Resize changes the size in bytes of a live block in place and reports whether it succeeded. Shrinking always
// succeeds. Growing beyond the last granule needs memory after the block: a free block, memory that TrimStep has
// returned, or the end of the pool. A block that waits because of Config.QuickBytes does not count as free. If the
// memory is not committed, Resize commits it. If Resize returns false, the block is unchanged, but memory may have been
// committed. If a source ends during the commit, the heap is closed and Resize returns false. New bytes are not zeroed.
// If p is nil or not the start of a live block, or if oldSize is wrong, Resize panics with a *memory.Misuse.
//
// For up to 16 blocks that have grown, the free memory after each block is kept for further growth of this block.
// Another request uses this memory only if no other free block is large enough. If Resize returns false, an Alloc of
// newSize bytes should follow: the heap places this block where it can grow, if possible.
//
// Cost: constant. For memory that is not committed, there is a system call per Config.Step. If TrimStep has returned
// memory, a block that grows costs a search through at most 1,024 ranges. Each range that is committed again costs
// another search.
func (h *Heap) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	h.owner.Touch()
	i := h.startOf(p)
	x := &h.blocks[i]
	if i == 0 || uintptr(x.req) != oldSize {
		panic(h.misuse("Resize", p, oldSize))
	}
	if newSize > h.limit {
		return false
	}
	n := h.grain.Count(newSize)
	before := x.size
	h.verifyBehind(x, p, before, n)
	if n > before && !h.growInPlace(i, n) {
		h.outgrew(newSize)
		return false
	}
	x = &h.blocks[i]
	if n < x.size {
		h.shrink(i, n)
		x = &h.blocks[i]
	}
	if n > before {
		h.keepRoom(i)
	}
	h.poison(int(x.pool), x.off+n, x.off+before)
	if invariant.Debug && newSize > oldSize {
		invariant.Fresh(unsafe.Add(p, oldSize), newSize-oldSize)
	}
	x.req = uint32(newSize)
	h.counts.Resized(before, x.size, oldSize, newSize)
	return true
}

// growInPlace makes i at least n granules long.
func (h *Heap) growInPlace(i, n uint32) bool {
	if h.drops > 0 && !h.fillBehind(i, n) {
		return false
	}
	x := &h.blocks[i]
	k := int(x.pool)
	behind := &h.blocks[x.next]
	atEnd := x.next == uint32(k) || behind.state == free && behind.next == uint32(k)
	room := x.size
	if behind.state == free {
		room += behind.size
	}
	if room > n && behind.bin >= roomBin { // a kept block is on no list by size: only its start moves
		behind.off, behind.size = x.off+n, room-n
		x.size, x.bin = n, uint16(binOf(n))
		return true
	}
	if room < n {
		pl, req, size := &h.pools[k], x.req, x.size
		end := x.off + n
		if !atEnd || uint64(end) > uint64(pl.mem.Reserved()>>h.grain) || h.reach(pl, end) != nil || pl.mem.Ensure(h.grain.Bytes(end)) != nil {
			return false
		}
		if h.closed { // by a function of the source
			return false
		}
		h.extend(k, h.committed(pl))
		if !h.unchanged(i, req, size) {
			return false
		}
		x = &h.blocks[i]
		if behind := &h.blocks[x.next]; x.off+n != end || behind.state != free || x.size+behind.size < n { // taken by that function
			return false
		}
	}
	h.mergeNext(i, x)
	x.bin = uint16(binOf(x.size))
	return true
}

// unchanged reports whether i is still the live block that it was before the source was called.
func (h *Heap) unchanged(i, req, size uint32) bool {
	if uint64(i) >= uint64(len(h.blocks)) {
		return false
	}
	x := &h.blocks[i]
	return x.state == live && x.req == req && x.size == size
}

// shrink cuts i after n granules and merges the rest with what is free behind it.
func (h *Heap) shrink(i, n uint32) {
	x := &h.blocks[i]
	if h.blocks[x.next].state == free {
		h.mergeNext(i, x)
	}
	h.split(i, n)
}
