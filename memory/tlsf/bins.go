package tlsf

import "math/bits"

const (
	// binBits: 16 bins per doubling, so a search by bin overlooks blocks that are less than
	// 1/16 too large, and quick stacks waste less than 1/16.
	binBits   = 4
	binsPer   = 1 << binBits
	binLevels = 32 // level 0 for sizes below binsPer, one bin each; then one per doubling; see roomLevel for the last
	binCount  = binLevels * binsPer

	// exactSearch is how many blocks the last search before growth looks at: it bounds
	// the worst case, and lists are seldom longer.
	exactSearch = 64
)

// bins are the lists of free blocks by size, and the bitmaps that find one in two steps.
type bins struct {
	levels uint32            // bit l: lists[l] is not 0
	lists  [binLevels]uint32 // bit k: bin l*binsPer+k has a block
}

// binOf returns the bin that holds free blocks of n granules.
func binOf(n uint32) uint32 {
	if n < binsPer {
		return n
	}
	l := uint32(bits.Len32(n)) - 1 - binBits
	return (l+1)<<binBits | n>>(l&31)&(binsPer-1)
}

// binAbove returns the first bin whose blocks all have at least n granules.
func binAbove(n uint32) uint32 {
	if n < binsPer {
		return n
	}
	l := uint32(bits.Len32(n)) - 1 - binBits
	return binOf(n + 1<<(l&31) - 1)
}

// binSize returns the size in granules of the smallest block of bin b.
func binSize(b uint32) uint32 {
	if b < binsPer {
		return b
	}
	return (b&(binsPer-1) | binsPer) << ((b>>binBits - 1) & 31)
}

// locateFree returns the first bin from b on that has a free block, or bin 0, which never
// has one.
func (s *bins) locateFree(b uint32) uint32 {
	l, k := b>>binBits&(binLevels-1), b&(binsPer-1)
	lists := s.lists[l] >> k << k
	if lists == 0 {
		levels := s.levels >> 1 >> l << l << 1 // those above l
		if levels == 0 {
			return 0
		}
		l = uint32(bits.TrailingZeros32(levels)) & (binLevels - 1)
		lists = s.lists[l]
	}
	return (l<<binBits | uint32(bits.TrailingZeros32(lists))) & (binCount - 1)
}

// link makes i a free block: it puts it in front of the list of its size.
func (h *Heap) link(i uint32, x *block) {
	b := binOf(x.size) & (binCount - 1)
	head := h.blocks[b].nextFree
	h.blocks[b].nextFree = i
	h.blocks[head].prevFree = i
	x.prevFree, x.nextFree = b, head
	x.bin = uint16(b)
	x.state = free
	if head == b {
		l := b >> binBits
		h.bins.lists[l] |= 1 << (b & (binsPer - 1))
		h.bins.levels |= 1 << (l & 31)
	}
}

// unlink takes a free block off its list. The caller gives it its next state.
func (h *Heap) unlink(x *block) {
	prev, next := x.prevFree, x.nextFree
	h.blocks[prev].nextFree = next
	h.blocks[next].prevFree = prev
	if prev == next {
		h.bins.drop(prev)
	}
}

// drop clears the bit of bin b, whose list is empty now.
func (s *bins) drop(b uint32) {
	l := b >> binBits & (binLevels - 1)
	s.lists[l] &^= 1 << (b & (binsPer - 1))
	if s.lists[l] == 0 {
		s.levels &^= 1 << l
	}
}

// searchExact looks for a block that fits among those that a search by bin overlooks: the
// bins from that of n granules up to where any block would do. Bounded by exactSearch.
func (h *Heap) searchExact(n, step uint32) uint32 {
	left := exactSearch
	for b, end := binOf(n), binAbove(n+step-1); b < end; b++ {
		for i := h.blocks[b].nextFree; i != b && left > 0; i = h.blocks[i].nextFree {
			if h.blocks[i].holds(n, step) {
				return i
			}
			left--
		}
	}
	return 0
}

// highest returns the bin of the largest free blocks, or bin 0.
func (s *bins) highest() uint32 {
	if s.levels == 0 {
		return 0
	}
	l := bits.Len32(s.levels) - 1
	return uint32(l<<binBits | (bits.Len32(s.lists[l]) - 1))
}

// largestFree returns the bytes of the largest request that a free block can meet, where nothing
// waits. It looks as far as Alloc does.
func (h *Heap) largestFree() uintptr {
	var most uint32
	b := h.bins.highest()
	i := h.blocks[b].nextFree
	for left := exactSearch; i != b && left > 0; left-- {
		most = max(most, h.blocks[i].size)
		i = h.blocks[i].nextFree
	}
	for taken := h.bins.lists[roomLevel]; taken != 0; taken &= taken - 1 {
		most = max(most, h.blocks[h.room(taken)].size)
	}
	return min(h.grain.Bytes(most), h.limit)
}
