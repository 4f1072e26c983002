package ecs

import (
	"fmt"
	"math/bits"
)

// A location names a row as segment<<rowBits | row. A segment is the number of rowCount rows that
// follow each other in one chunk: a chunk of n rows has ceil(n/rowCount) of them, consecutive,
// and the number of the chunk is that of its first. Locations of the rows of a chunk are
// therefore consecutive too. Both masks are constants, because a random look-up executes them
// between two cache misses.
//
// Rejected: 17 bits of row and 15 of chunk, which ended at 32,768 chunks; a split that depends on
// the chunk, which adds instructions between the misses; a location of 8 bytes, which doubles
// the index of entities.
const (
	rowBits  = 11
	rowCount = 1 << rowBits
	rowMask  = rowCount - 1

	maxSegments = 1 << (32 - rowBits)
	maxRows     = 1 << 17 // of a chunk: those of 32 bytes in 4 MiB

	// maxOrder is the order of the run of segments that a chunk of maxRows takes.
	maxOrder = 17 - rowBits
)

// segments are the numbers of all chunks, allocated in runs of 1<<order by a buddy allocator: chunks
// of many rows and of few do not fragment each other's numbers.
//
// Invariants, verified in this order by check:
//
//	(1) every segment belongs to one run, which begins at a multiple of its length and whose order + 1
//	    stands in run of its first segment, and 0 in the others
//	(2) vacant[k] lists the free runs of order k, linked in both directions, and nothing else
//	(3) of two buddies at most one is free, unless they have maxOrder
type segments struct {
	chunks []chunk              // by segment
	vacant [maxOrder + 1]uint32 // first free run + 1; 0 when there is none
}

// orderOf returns the order of the run that a chunk of so many rows takes.
func orderOf(rows uint32) int { return bits.Len32((rows - 1) >> rowBits) }

// hasRun reports whether takeRun will find a run.
func (s *segments) hasRun(order int) bool {
	for _, first := range s.vacant[order:] {
		if first != 0 {
			return true
		}
	}
	n, size := len(s.chunks), 1<<order
	return (n+size-1)&^(size-1)+size <= maxSegments
}

// errSegments is what a table gets for which hasRun finds none.
var errSegments = fmt.Errorf("ecs: all %d numbers of chunks are taken: %w", maxSegments, ErrLimit)

// takeVacant takes a run out of those that are free; false when there is none.
func (s *segments) takeVacant(order int) (first uint32, ok bool) {
	for k := order; k <= maxOrder; k++ {
		if s.vacant[k] == 0 {
			continue
		}
		first = s.vacant[k] - 1
		s.unlist(first)
		for k > order {
			k--
			s.list(first+1<<k, k)
		}
		s.chunks[first].run = uint8(order) + 1
		return first, true
	}
	return 0, false
}

// giveRun makes a run free, together with its buddy where that is free too.
func (s *segments) giveRun(first uint32, order int) {
	s.chunks[first].run = 0
	for ; order < maxOrder; order++ {
		buddy := first ^ 1<<order
		if int(buddy) >= len(s.chunks) || !s.free(buddy, order) {
			break
		}
		s.unlist(buddy)
		first &= buddy
	}
	s.list(first, order)
}

// free reports whether a free run of this order begins at segment i.
func (s *segments) free(i uint32, order int) bool {
	return s.chunks[i].run == uint8(order)+1 && s.chunks[i].base == nil
}

// list puts a run at the head of its list. Of a free run's first segment pos is the next
// of the list + 1, and class the one before it + 1.
func (s *segments) list(first uint32, order int) {
	head := s.vacant[order]
	s.chunks[first] = chunk{pos: head, run: uint8(order) + 1}
	if head != 0 {
		s.chunks[head-1].class = first + 1
	}
	s.vacant[order] = first + 1
}

// unlist takes a free run out of its list.
func (s *segments) unlist(first uint32) {
	c := s.chunks[first]
	if c.class != 0 {
		s.chunks[c.class-1].pos = c.pos
	} else {
		s.vacant[c.run-1] = c.pos
	}
	if c.pos != 0 {
		s.chunks[c.pos-1].class = c.class
	}
	s.chunks[first] = chunk{}
}

// extend appends free runs until the segments end at a multiple of 1<<order, and then one of that order.
func (d *directory) extend(order int, comps []*component) {
	for {
		n := len(d.chunks)
		k := order
		if n&(1<<order-1) != 0 {
			k = bits.TrailingZeros(uint(n))
		}
		d.chunks = append(d.chunks, make([]chunk, 1<<k)...)
		d.columns = append(d.columns, make([]address, d.width<<k)...)
		if !d.draft {
			for _, c := range comps {
				c.addresses = append(c.addresses, make([]address, 1<<k)...)
			}
		}
		d.giveRun(uint32(n), k)
		if n&(1<<order-1) == 0 {
			return
		}
	}
}

// trim forgets the free segments from n on, which is behind the last that is taken.
func (s *segments) trim(n int) {
	s.chunks = append(make([]chunk, 0, n), s.chunks[:n]...)
	s.vacant = [maxOrder + 1]uint32{}
	for i := range s.chunks {
		if s.chunks[i].base == nil {
			s.chunks[i] = chunk{}
		}
	}
	for i := n - 1; i >= 0; i-- { // backwards, so that the first is taken first
		if s.chunks[i].base == nil {
			s.giveRun(uint32(i), 0)
		}
	}
}
