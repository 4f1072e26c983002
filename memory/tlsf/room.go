package tlsf

import (
	"math/bits"

	"github.com/strata-go/strata/memory/internal/align"
)

// Whether a block can grow in place is decided by who was put behind it. Good fit, left alone,
// puts the next small request exactly there: the rest of the free block that Resize has cut is
// the smallest one that is large enough. A block that grew from 4 to 600 KiB by steps of 128
// bytes, a small block handed out after each, moved 260 times with a Step of 16 KiB and left
// three times its size committed.
//
// So what lies free behind a block that has grown is its room. It is free in every other
// respect: it merges, counts, is trimmed and is committed already; but it hangs on a list of its
// own, which a request comes to only when no other free block is large enough, before the heap
// grows or refuses. Then it gives up its far half, or more where the request needs that, and
// keeps the near one: the block in front of it still has somewhere to go, and the requests that
// follow find the far half on the ordinary lists. At the end of a pool this is the wilderness
// preservation of Korn and Vo ("In Search of a Better Malloc", USENIX 1985); realloc in other
// allocators keeps such headroom inside of the block, where nobody else can have it.
//
// A block that has nowhere to go must be moved, by memory.Grow or by its owner: it is the next
// request of exactly the size that Resize refused. It goes where it can stay longest, to the
// largest free block or the end of a pool, and has its room there. Only such a request leaves
// the fast path for it: fastSize is lowered until it has come.
const (
	// roomLevel is the last level of bins, which no size has: a list there is one room.
	roomLevel = binLevels - 1
	roomBin   = roomLevel * binsPer

	// rooms bounds how many there are, and the search through them. When one more block grows,
	// one of the others loses its room, and would move where it had stayed.
	rooms = binsPer
)

// room returns the room of the lowest bit of taken, which is not 0.
func (h *Heap) room(taken uint32) uint32 {
	return h.blocks[roomBin+uint32(bits.TrailingZeros32(taken))&(rooms-1)].nextFree
}

// keepRoom makes what is free behind i, which is live, its room. Cost: constant.
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

// relink puts the free block i, which was taken off its list, back: to its place among the rooms,
// or to the list of its size.
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

// takeRoom returns a free block with n granules at a multiple of step that was part of a room, or
// 0 where no room holds them.
func (h *Heap) takeRoom(n, step uint32) uint32 {
	for taken := h.bins.lists[roomLevel]; taken != 0; taken &= taken - 1 {
		if i := h.room(taken); h.blocks[i].holds(n, step) {
			return h.halve(i, n, step)
		}
	}
	return 0
}

// halve cuts off the far half of the room i, or more of it where n granules at a multiple of step
// would not lie in that. It returns the far part, an ordinary free block now.
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

// outgrew notes that a block could not grow to size bytes where it lies.
func (h *Heap) outgrew(size uintptr) {
	if !h.closed {
		h.outgrown, h.fastSize = size, size-1
	}
}

// arrives reports whether a request of size bytes is that of the block that could not grow. The
// first that could be it, and is as large or larger, decides.
func (h *Heap) arrives(size uintptr) bool {
	was := h.outgrown
	if was == 0 || size < was {
		return false
	}
	h.serve(h.limit)
	return size == was
}

// serve makes limit the largest request in bytes and has the fast path take all up to that.
func (h *Heap) serve(limit uintptr) { h.limit, h.fastSize, h.outgrown = limit, limit, 0 }

// roomy returns a free block for n granules at a multiple of step that are to grow on: the largest
// one, where it is an eighth larger than they are, so that blocks that move do so a number of
// times that is logarithmic in what they grow by; else the end of a pool, with all the addresses
// behind it. 0 means that there is neither.
func (h *Heap) roomy(n, step uint32) uint32 {
	if i := h.blocks[h.bins.highest()].nextFree; h.blocks[i].holds(n+n/8, step) {
		return i
	}
	i, _ := h.grow(n, step)
	return i
}
