package tiers

import (
	"math/bits"
	"unsafe"
)

// slabNotes record which blocks of the slab were allocated under a tag, by their addresses. An untagged block has no
// note, and costs nothing.
//
//	units   | 0 | class : 32, leaf : 32 | 0 | …     per KiB of the slab's addresses, or 0
//	leaf    | note | 0 | note | …                   a note for each place where a block may start
//	note    tag : 8 | place in the KiB : 8 | rounding : 16
//
// All blocks in a KiB of a slab have one class, so a note does not need the block's size. The places of a leaf are as
// far apart as the largest power of two that is not above the class. So it has 64 notes for blocks of 16 and 24
// bytes, and one for blocks of 1 KiB and more. That is 4 bytes a block if the class is a power of two, up to 8
// otherwise, and 8 a KiB. A byte per 16 bytes of the slab would be 7 bytes for a block of 112, 64 for one of a KiB,
// and could not contain the requested size; two bytes, twice that.
//
// A KiB keeps its leaf when the last note is removed, because taking and returning a leaf costs more than all the
// rest. A leaf is recycled when the class of its KiB changes to one with another number of places. A large leaf is
// split for a KiB that needs fewer. So there are at most 64 words for each KiB that ever had a tagged block, and as
// many again for leaves of other sizes that are left over when classes change.
//
// Invariants, verified by check:
//
//	(1) units name leaves that lie in the words, apart; spare leaves and the one behind all are the rest
//	(2) a unit's leaf has as many places as its class needs
//	(3) a note is of a tag that there is, and at its block's place; what is not noted is 0
//	(4) counts are the sums over the notes
type slabNotes struct {
	base   uintptr // where the slab's addresses begin
	size   uintptr // bytes of them
	units  []unit
	chunks []*[chunkWords]note
	next   uint32            // behind the last word that was ever in a leaf; no leaf is number 0
	spare  [leafKinds]uint32 // leaves that no KiB uses, by the shift of their places
	counts []tagCounts       // by tag; that of 0 is empty
}

// A unit is what is known of a KiB: its leaf, and the class of its blocks in granules of 16.
type unit uint64

func newUnit(class uintptr, leaf uint32) unit { return unit(class>>placeShift)<<32 | unit(leaf) }
func (u unit) leaf() uint32                   { return uint32(u) }
func (u unit) class() uintptr                 { return uintptr(u>>32) << placeShift }

// kind returns the shift that tells the places of the unit's blocks apart.
func (u unit) kind() uint { return uint(min(bits.Len32(uint32(u>>32))-1, leafKinds-1)) }

// A note is what is known of a tagged block. 0 is none. In a spare leaf the first is the next leaf.
type note uint32

const (
	unitShift  = 10 // one KiB: what slab cuts into blocks of one class
	placeShift = 4  // blocks start at multiples of 16
	placeMask  = 1<<(unitShift-placeShift) - 1
	leafKinds  = unitShift - placeShift + 1
	maxClass   = 64 << 10 // of any slab
	chunkShift = 12       // 16 KiB of words: nothing is copied when there are more of them
	chunkWords = 1 << chunkShift
)

func newNote(tag uint8, place, slack uintptr) note {
	return note(tag)<<24 | note(place)<<16 | note(slack)
}

func (n note) tag() uint8                 { return uint8(n >> 24) }
func (n note) place() uintptr             { return uintptr(n>>16) & 0xFF }
func (n note) size(class uintptr) uintptr { return class - uintptr(n&0xFFFF) }

func leafWords(kind uint) uint32 { return (placeMask + 1) >> kind }

func (s *slabNotes) word(i uint32) *note { return &s.chunks[i>>chunkShift][i%chunkWords] }

// leaf returns the notes of a leaf: none lies in two chunks, as all are powers of two in size.
func (s *slabNotes) leaf(i uint32, kind uint) []note {
	return s.chunks[i>>chunkShift][i%chunkWords:][:leafWords(kind)]
}

// at returns the note of the block that starts at p, or nil, and the block's class.
func (s *slabNotes) at(p unsafe.Pointer) (n *note, class uintptr) {
	off := uintptr(p) - s.base
	if off>>unitShift >= uintptr(len(s.units)) {
		return nil, 0
	}
	u := s.units[off>>unitShift]
	if u == 0 {
		return nil, 0
	}
	place := off >> placeShift & placeMask
	n = s.word(u.leaf() + uint32(place>>u.kind()))
	if *n == 0 || n.place() != place || off%(1<<placeShift) != 0 {
		return nil, 0
	}
	return n, u.class()
}

// tagOf returns the tag of the block at p, 0 where it has none.
func (s *slabNotes) tagOf(p unsafe.Pointer) uint8 {
	if n, _ := s.at(p); n != nil {
		return n.tag()
	}
	return 0
}

// add notes that the block at p was handed out under a tag. Notes in its way are those of blocks
// that were freed past the manager; they are counted as freed now.
func (s *slabNotes) add(tag uint8, p unsafe.Pointer, class, size uintptr) {
	off := uintptr(p) - s.base
	i := off >> unitShift
	if i >= uintptr(len(s.units)) || s.units[i].class() != class {
		s.settle(i, class)
	}
	u, place := s.units[i], off>>placeShift&placeMask
	n := s.word(u.leaf() + uint32(place>>u.kind()))
	if *n != 0 {
		s.counts[n.tag()].in(class, n.size(class))
	}
	*n = newNote(tag, place, class-size)
	s.counts[tag].out(class, size)
}

// remove forgets a note, whose block has been freed.
func (s *slabNotes) remove(n *note, class uintptr) {
	s.counts[n.tag()].in(class, n.size(class))
	*n = 0
}

// resized notes another size for the block of a note, which has the same class.
func (s *slabNotes) resized(n *note, class, size uintptr) {
	s.counts[n.tag()].requested += uint64(size) - uint64(n.size(class))
	*n = newNote(n.tag(), n.place(), class-size)
}

// settle gives a unit, whose blocks are now of the class, the leaf that it needs.
//
//go:noinline
func (s *slabNotes) settle(i, class uintptr) {
	for uintptr(len(s.units)) <= i {
		s.units = append(s.units, 0)
	}
	old, now := s.units[i], newUnit(class, 0)
	if old != 0 {
		leaf := s.leaf(old.leaf(), old.kind())
		for k, n := range leaf {
			if n != 0 {
				s.remove(&leaf[k], old.class())
			}
		}
		if old.kind() == now.kind() {
			s.units[i] = now | unit(old.leaf())
			return
		}
		s.units[i] = 0
		s.drop(old.leaf(), old.kind())
	}
	s.units[i] = now | unit(s.newLeaf(now.kind()))
}

// newLeaf takes a spare leaf, or half of a larger one, and half of that.
func (s *slabNotes) newLeaf(kind uint) uint32 {
	k := kind
	for k > 0 && s.spare[k] == 0 {
		k--
	}
	leaf := s.spare[k]
	if leaf == 0 {
		leaf = max(s.next, leafWords(0))
		if leaf>>chunkShift >= uint32(len(s.chunks)) {
			s.chunks = append(s.chunks, new([chunkWords]note))
		}
		s.next = leaf + leafWords(0)
	} else {
		first := s.word(leaf)
		s.spare[k], *first = uint32(*first), 0
	}
	for ; k < kind; k++ {
		s.drop(leaf+leafWords(k+1), k+1)
	}
	return leaf
}

// drop makes a leaf without notes a spare one.
func (s *slabNotes) drop(leaf uint32, kind uint) {
	*s.word(leaf), s.spare[kind] = note(s.spare[kind]), leaf
}

// close counts every block as freed: the heap has closed.
func (s *slabNotes) close() {
	closeCounts(s.counts)
	s.units, s.chunks, s.spare, s.next = nil, nil, [leafKinds]uint32{}, 0
}
