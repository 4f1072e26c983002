package tiers

import (
	"unsafe"

	"github.com/strata-go/strata/memory/internal/align"
)

// largeNotes hold which blocks of a tlsf.Heap were handed out under a tag, by their addresses.
//
//	units   | 0 | leaf | 0 | …             per 4 KiB of the heap's addresses, or 0
//	leaf    | tag : 8, size : 24 | 0 | …   16 words, one per 256 bytes, where a block may start
//	huge    sizes that 24 bits do not hold
//
// That is 64 bytes for each 4 KiB in which a tagged block ever started, and 4 for every 4 KiB: at
// most the 60th part of the heap. A leaf stays where it is. A byte per 256 bytes alone would be a
// quarter of that, but could not tell what a block took that was freed past the manager.
//
// Invariants, verified by check:
//
//	(1) units name leaves that lie in the words, apart, and these are all
//	(2) a word that is not 0 is of a tag that there is
//	(3) a size is in huge if it does not fit, there once, and nothing else is
//	(4) counts are the sums over the words
type largeNotes struct {
	base    uintptr // where the heap's addresses begin
	size    uintptr // bytes of them
	granule uintptr // of the heap, in bytes: a multiple of grain
	units   []uint32
	chunks  []*[chunkWords]uint32
	next    uint32 // behind the last leaf; no leaf is number 0
	huge    []hugeNote
	counts  []tagCounts // by tag; that of 0 is empty
}

// A hugeNote is the size of a block of 16 MiB or more.
type hugeNote struct {
	grain uint32 // of the block's start
	size  uint32
}

const (
	grainShift = 8
	grain      = 1 << grainShift // bytes: blocks start at multiples
	largeUnit  = 4 << 10
	largePlace = largeUnit / grain // words of a leaf
	hugeSize   = 1<<24 - 1         // the size is in huge
)

// word returns the word of the block at off, which lies in a unit that has a leaf.
func (s *largeNotes) word(off uintptr) *uint32 {
	i := s.units[off/largeUnit] + uint32(off/grain%largePlace)
	return &s.chunks[i>>chunkShift][i%chunkWords]
}

// at returns the tag of the block that starts at p and the bytes that were asked for; tag 0 where
// it has no note.
func (s *largeNotes) at(p unsafe.Pointer) (tag uint8, size uintptr) {
	off := uintptr(p) - s.base
	if off/largeUnit >= uintptr(len(s.units)) || off%grain != 0 || s.units[off/largeUnit] == 0 {
		return 0, 0
	}
	w := *s.word(off)
	if size = uintptr(w % (1 << 24)); size == hugeSize {
		size = uintptr(s.huge[s.findHuge(off)].size)
	}
	return uint8(w >> 24), size
}

// tagOf returns the tag of the block at p, 0 where it has none.
func (s *largeNotes) tagOf(p unsafe.Pointer) uint8 {
	tag, _ := s.at(p)
	return tag
}

// add notes that the block at p was handed out under a tag. A note in its way is that of a block
// that was freed past the manager; it is counted as freed now.
func (s *largeNotes) add(tag uint8, p unsafe.Pointer, size uintptr) {
	off := uintptr(p) - s.base
	if i := off / largeUnit; i >= uintptr(len(s.units)) || s.units[i] == 0 {
		s.newLeaf(i)
	}
	if old, was := s.at(p); old != 0 {
		s.remove(p, old, was)
	}
	s.write(off, tag, size)
	s.counts[tag].out(s.takes(size), size)
}

// newLeaf gives a unit a leaf.
//
//go:noinline
func (s *largeNotes) newLeaf(unit uintptr) {
	for uintptr(len(s.units)) <= unit {
		s.units = append(s.units, 0)
	}
	leaf := max(s.next, largePlace)
	if leaf>>chunkShift >= uint32(len(s.chunks)) {
		s.chunks = append(s.chunks, new([chunkWords]uint32))
	}
	s.units[unit], s.next = leaf, leaf+largePlace
}

// remove forgets the note of the block at p, which has been freed.
func (s *largeNotes) remove(p unsafe.Pointer, tag uint8, size uintptr) {
	s.counts[tag].in(s.takes(size), size)
	off := uintptr(p) - s.base
	*s.word(off) = 0
	if size >= hugeSize {
		i, last := s.findHuge(off), len(s.huge)-1
		s.huge[i] = s.huge[last]
		s.huge = s.huge[:last]
	}
}

// resized notes the new size of the block at p, which had size was.
func (s *largeNotes) resized(p unsafe.Pointer, tag uint8, was, size uintptr) {
	allocs, frees := s.counts[tag].allocs, s.counts[tag].frees
	s.remove(p, tag, was)
	s.write(uintptr(p)-s.base, tag, size)
	b := &s.counts[tag]
	b.out(s.takes(size), size)
	b.allocs, b.frees = allocs, frees
}

func (s *largeNotes) write(off uintptr, tag uint8, size uintptr) {
	if size >= hugeSize {
		s.huge = append(s.huge, hugeNote{uint32(off / grain), uint32(size)})
	}
	*s.word(off) = uint32(tag)<<24 | uint32(min(size, hugeSize))
}

// findHuge looks for a large size: a heap has few that large.
func (s *largeNotes) findHuge(off uintptr) int {
	i := 0
	for s.huge[i].grain != uint32(off/grain) {
		i++
	}
	return i
}

// close counts every block as freed: the heap has closed.
func (s *largeNotes) close() {
	closeCounts(s.counts)
	s.units, s.chunks, s.huge, s.next = nil, nil, nil, 0
}

// takes returns what a request takes in a tlsf.Heap without quick stacks: whole granules.
func (s *largeNotes) takes(size uintptr) uintptr { return align.Up(max(size, 1), s.granule) }

// tagCounts are the counts of one tag in one heap. used and peak are bytes with rounding, requested is without it;
// allocs - frees blocks are live.
type tagCounts struct {
	used, requested, peak, allocs, frees, failures uint64
}

func (b *tagCounts) out(taken, size uintptr) {
	b.used += uint64(taken)
	b.requested += uint64(size)
	b.peak = max(b.peak, b.used)
	b.allocs++
}

func (b *tagCounts) in(taken, size uintptr) {
	b.used -= uint64(taken)
	b.requested -= uint64(size)
	b.frees++
}

// reach makes counts for the tags up to the one given.
func reach(all *[]tagCounts, tag uint8) {
	for len(*all) <= int(tag) {
		*all = append(*all, tagCounts{})
	}
}

// closeCounts counts every block as freed.
func closeCounts(all []tagCounts) {
	for i := range all {
		b := &all[i]
		b.frees, b.used, b.requested = b.allocs, 0, 0
	}
}

// stats returns the counts as memory.Stats. A tag has no memory but what is in use.
func (b *tagCounts) stats() stats {
	return stats{
		Reserved: b.used, Committed: b.used, InUse: b.used, Peak: b.peak, Live: b.allocs - b.frees,
		Allocs: b.allocs, Frees: b.frees, Failures: b.failures, Requested: b.requested, Measured: b.used,
	}
}
