package buddy

import (
	"fmt"
	"math/bits"

	"github.com/strata-go/strata/memory/internal/align"
)

// A System selects the ladder of block sizes, and so the parts into which a block splits.
type System uint8

const (
	// Binary splits a block into two halves: 1, 2, 4, 8 … smallest blocks. Every block is aligned to its own size, up
	// to page.BaseAlign. A request above MinBlock wastes less than half of its block.
	Binary System = iota

	// Fibonacci splits a block into two blocks whose sizes are the two Fibonacci numbers below its own: 1, 1, 2, 3, 5,
	// 8 … smallest blocks. Sizes lie closer together than with Binary. A request above twice MinBlock wastes less than
	// two fifths of its block. Blocks are aligned to MinBlock only, so a request with a larger alignment needs padding
	// and may waste more.
	Fibonacci
)

// String returns the name of the system, or "System(n)" for an unknown system.
func (s System) String() string {
	switch s {
	case Binary:
		return "Binary"
	case Fibonacci:
		return "Fibonacci"
	}
	return fmt.Sprintf("System(%d)", uint8(s))
}

// maxRungs is enough for Fibonacci numbers up to align.MaxGrains, of which there are 44.
const maxRungs = 48

// A ladder has the sizes of blocks, in units of MinBlock. Both systems are one recurrence, size[k] = size[k-1] +
// size[k-gap]: a block of rung k splits into a left one of rung k-1 and a right one of rung k-gap. gap is 1 for Binary
// and 2 for Fibonacci.
type ladder struct {
	size  [maxRungs]uint32
	first [32]uint8 // by bits.Len32(n-1): no lower rung holds n units
	gap   uint8
	top   uint8 // the highest rung: the block that is the whole heap
}

// ladderOver returns the ladder whose top is the lowest rung of at least n units.
func ladderOver(s System, n uint32) ladder {
	l := ladder{gap: 1 + uint8(s)}
	l.size[0] = 1
	for l.root() < n {
		l.size[l.top+1] = l.next()
		l.top++
	}
	l.index()
	return l
}

// ladderWithin returns the ladder whose top is the highest rung of at most n units.
func ladderWithin(s System, n uint32) ladder {
	l := ladderOver(s, n)
	for l.root() > n {
		l.size[l.top] = 0
		l.top--
	}
	l.index()
	return l
}

// next returns the size of the rung above the top.
func (l *ladder) next() uint32 {
	if k := l.top + 1; k >= l.gap {
		return l.size[k-1] + l.size[k-l.gap]
	}
	return 1
}

// index fills in first.
func (l *ladder) index() {
	k := uint8(0)
	for i := range l.first {
		for k < l.top && uint64(l.size[k]) < 1<<i>>1+1 { // the least n of this length
			k++
		}
		l.first[i] = k
	}
}

// root returns the size of the top rung.
func (l *ladder) root() uint32 { return l.size[l.top] }

// whole returns the part that all others are parts of.
func (l *ladder) whole() part { return part{rung: l.top} }

// rung returns the lowest rung of at least n units, which the ladder must have.
func (l *ladder) rung(n uint32) uint8 {
	k := l.first[bits.Len32(n-1)&31]
	for l.size[k] < n {
		k++
	}
	return k
}

// A side is the position of a block in its parent. Two bits are enough to climb the ladder (Cranston and Thomas, 1975):
// the bits of a parent are stored in those of its parts.
type side uint8

const (
	right side = 1 << iota // it is its parent's right part
	kept                   // what the parent would forget: a left part keeps its right bit, a right part its kept bit
)

// A part is a place where the ladder allows a block.
type part struct {
	off  uint32 // units from base
	rung uint8
	side side
}

// divisible reports whether p has parts.
func (l *ladder) divisible(p part) bool { return p.rung >= l.gap }

// parts returns the left and the right part of p, which is divisible.
func (l *ladder) parts(p part) (a, b part) {
	a = part{p.off, p.rung - 1, p.side & right << 1}
	b = part{p.off + l.size[p.rung-1], p.rung - l.gap, p.side&kept | right}
	return a, b
}

// buddy returns the offset and the rung of the other part of p's parent. For Binary this is
// the offset xor the size, since every block is a multiple of its size from base.
func (l *ladder) buddy(p part) (off uint32, rung uint8) {
	if p.side&right == 0 {
		return p.off + l.size[p.rung], p.rung + 1 - l.gap
	}
	rung = p.rung + l.gap - 1
	return p.off - l.size[rung], rung
}

// parent returns what p and its buddy, which has side other, are the parts of.
func (l *ladder) parent(p part, other side) part {
	if p.side&right == 0 {
		return part{p.off, p.rung + 1, p.side>>1 | other&kept}
	}
	rung := p.rung + l.gap
	return part{p.off - l.size[rung-1], rung, other>>1 | p.side&kept}
}

// holds reports whether n units at a multiple of step lie in p.
func (l *ladder) holds(p part, n, step uint32) bool {
	return align.UpTo(p.off, step)-p.off+n <= l.size[p.rung]
}
