package tlsf

import (
	"math/bits"

	"github.com/strata-go/strata/memory/internal/align"
)

// A block can grow in place if the memory after it is free. Good fit alone puts the next small request exactly there,
// because the rest of the free block that Resize has cut is the smallest one that is large enough. A block that grew
// from 4 to 600 KiB by steps of 128 bytes, with a small block allocated after each, moved 260 times with a Step of 16
// KiB. It left three times its size committed.
//
// So the free block after a block that has grown is kept as its headroom. It is free in every other respect: it
// merges, counts, is trimmed and is committed already. But it is on a list of its own. A request uses it only if no
// other free block is large enough, before the heap grows or Alloc fails. Then the headroom gives up its far half, or
// more if the request needs that, and keeps the near one. The block in front of it can still grow, and the next
// requests find the far half on the ordinary lists. At the end of a pool this is the wilderness preservation of Korn
// and Vo ("In Search of a Better Malloc", USENIX 1985). In other allocators realloc keeps such headroom inside the
// block, so no other block can use it.
//
// If Resize fails, memory.Grow or the owner moves the block: the next request of exactly the size that Resize
// refused. It is placed where it can grow longest, in the largest free block or at the end of a pool, and has its
// headroom there. Only such a request leaves the fast path: fastSize is lowered until it has been served.
const (
	// roomLevel is the last level of bins, which no size has: a list there is one headroom.
	roomLevel = binLevels - 1
	roomBin   = roomLevel * binsPer

	// rooms bounds their number, and the search through them. If one more block grows, one of the others loses its
	// headroom, and may have to move.
	rooms = binsPer
)

// room returns the headroom of the lowest bit of taken, which is not 0.
func (h *Heap) room(taken uint32) uint32 {
	return h.blocks[roomBin+uint32(bits.TrailingZeros32(taken))&(rooms-1)].nextFree
}

// keepRoom makes the free block after i, which is live, its headroom. Cost: constant.
func (h *Heap) keepRoom(i uint32) {
	j := h.blocks[i].next
	y := &h.blocks[j]
	if y.state != free || y.bin >= roomBin {
		return
	}
	h.unlink(y)
	k := uint32(bits.TrailingZeros32(^h.bins.lists[roomLevel]))
	if k >= rooms {
		h.turn++
		k = h.turn & (rooms - 1)
		old := h.room(1 << k)
		x := &h.blocks[old]
		h.unlink(x)
		h.link(old, x)
	}
	y.bin = uint16(roomBin + k)
	h.relink(j, y)
}

// relink puts the free block i, which was removed from its list, back: as a headroom, or on the list of its size.
func (h *Heap) relink(i uint32, x *block) {
	b := uint32(x.bin)
	if b < roomBin {
		h.link(i, x)
		return
	}
	h.blocks[b].nextFree, h.blocks[b].prevFree = i, i
	x.prevFree, x.nextFree = b, b
	h.bins.lists[roomLevel] |= 1 << (b & (rooms - 1))
}

// takeRoom returns a free block with n granules at a multiple of step that was part of a headroom, or 0 if there is
// none.
func (h *Heap) takeRoom(n, step uint32) uint32 {
	for taken := h.bins.lists[roomLevel]; taken != 0; taken &= taken - 1 {
		if i := h.room(taken); h.blocks[i].holds(n, step) {
			return h.halve(i, n, step)
		}
	}
	return 0
}

// halve cuts off the far half of the headroom i, or more if n granules at a multiple of step do not fit into that. It
// returns the far part, an ordinary free block now.
func (h *Heap) halve(i, n, step uint32) uint32 {
	x := &h.blocks[i]
	h.unlink(x)
	// The far part starts at a multiple of step, or what is cut off in front of the request would
	// be a free neighbour of the near one.
	last := (x.off + x.size - n) &^ (step - 1)
	near := min(align.UpTo(x.off+x.size/2, step), last) - x.off
	if near == 0 {
		h.link(i, x)
		return i
	}
	b := x.bin
	x = h.split(i, near)
	x.bin = b
	h.relink(i, x)
	return x.next
}

// outgrew records that a block could not grow to size bytes in place.
func (h *Heap) outgrew(size uintptr) {
	if !h.closed {
		h.outgrown, h.fastSize = size, size-1
	}
}

// arrives reports whether a request of size bytes is taken for that of the block that could not grow. The first
// request that is at least as large decides.
func (h *Heap) arrives(size uintptr) bool {
	was := h.outgrown
	if was == 0 || size < was {
		return false
	}
	h.serve(h.limit)
	return size == was
}

// serve makes limit the largest request in bytes, also of the fast path.
func (h *Heap) serve(limit uintptr) { h.limit, h.fastSize, h.outgrown = limit, limit, 0 }

// roomy returns a free block for n granules at a multiple of step that will grow further. That is the largest one if
// it is an eighth larger than they are. So the number of moves is logarithmic in the growth. Otherwise it is the end
// of a pool, with all the addresses after it. 0 means that there is neither.
func (h *Heap) roomy(n, step uint32) uint32 {
	if i := h.blocks[h.bins.highest()].nextFree; h.blocks[i].holds(n+n/8, step) {
		return i
	}
	i, _ := h.grow(n, step)
	return i
}
