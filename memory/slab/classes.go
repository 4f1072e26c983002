package slab

import (
	"fmt"
	"math/bits"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/findings"
)

// A ClassTable selects the block sizes, the size classes, of a heap. Every table starts at 16 bytes, contains multiples
// of 16, and ends at MaxSize, rounded up to a multiple of 16. A request is served from the smallest class that fits its
// size and is a multiple of its alignment. The comments of the tables state the waste for alignments up to 16.
type ClassTable uint8

const (
	// Geometric has 8 classes per doubling above 128 bytes, and a class every 16 bytes up to 128 bytes. This table
	// has 48 classes up to 4096 bytes. A request of up to 128 bytes wastes at most 16 bytes, a larger one at most
	// 12.5 % of its size.
	Geometric ClassTable = iota

	// PowerOfTwo doubles: 9 classes up to 4096 bytes. If the block has more than 16 bytes, less than half of it is
	// wasted. Requests of 8 bytes or less take the 16-byte class; the package comment gives the reason.
	PowerOfTwo

	// Step16 has a class every 16 bytes. A request wastes at most 16 bytes, but each of up to 256 classes has its own
	// spans. MaxSize must be at most 4096.
	Step16

	// Fibonacci grows by the golden ratio, 16 × 1, 2, 3, 5, 8 …: 13 classes up to 4096 bytes. If the block has more
	// than 32 bytes, less than two fifths of it are wasted.
	Fibonacci
)

const (
	granule      = 16 // bytes; the unit of the metadata, and the alignment of every block
	granuleShift = 4

	// A unit is what a span is made of, and what has a class: 1 KiB, so that the first block of
	// a class takes no more than that, and a word of the live map speaks of one unit.
	unitShift    = 10
	unitBytes    = 1 << unitShift
	unitGranules = unitBytes / granule

	// largest is the largest block, and what a span grows to, but for the room that its last
	// block needs.
	largest      = 64 << 10
	largestUnits = largest / unitBytes
	maxRungs     = largest / granule // entries of a lookup table
	maxClasses   = 256               // what the class byte of a unit can tell apart
	maxSpan      = 2 * largestUnits  // units; of so many the rest is an eighth for every size, and a byte holds the number

	// firstAlign is the smallest alignment that a class does not have by itself; from it to
	// memory.MaxAlign there are alignRows powers of two.
	firstAlign = 2 * granule
	alignRows  = 8
)

// String returns the name of the table, or "ClassTable(n)" for an unknown table.
func (t ClassTable) String() string {
	switch t {
	case Geometric:
		return "Geometric"
	case PowerOfTwo:
		return "PowerOfTwo"
	case Step16:
		return "Step16"
	case Fibonacci:
		return "Fibonacci"
	}
	return fmt.Sprintf("ClassTable(%d)", uint8(t))
}

// Sizes returns the block sizes in bytes for requests of up to maxSize bytes, ascending. If the table is unknown or
// maxSize is above 64 KiB, Sizes returns nil. If maxSize is 0, the only size is 16: unlike Config.MaxSize, 0 does not
// mean 4096. If maxSize, rounded up to a multiple of 16, is no multiple of 4096, a heap has one more class, for
// requests with an alignment above 16. Sizes allocates in the Go heap.
func (t ClassTable) Sizes(maxSize uintptr) []uintptr {
	if t > Fibonacci || maxSize > largest {
		return nil
	}
	top := max(align.Up(maxSize, granule), granule)
	sizes := []uintptr{granule}
	below := uintptr(granule)
	for last := uintptr(granule); last < top; {
		next := min(t.next(below, last), top)
		below, last = last, next
		sizes = append(sizes, next)
	}
	return sizes
}

// next returns the rung above last; below is the one under last.
func (t ClassTable) next(below, last uintptr) uintptr {
	switch t {
	case PowerOfTwo:
		return 2 * last
	case Step16:
		return last + granule
	case Fibonacci:
		if last == granule {
			return 2 * granule
		}
		return last + below
	default: // Geometric
		return last + max(granule, align.CeilPow2(last+1)/16)
	}
}

// A ladder is a ClassTable made ready for lookup. It does not change after newLadder, so any
// goroutine may read it.
//
// Invariants, verified once, by newLadder:
//
//	(1) sizes ascend, and are multiples of granule
//	(2) tab[i] is the lowest class of at least 16*(i+1) bytes
//	(3) aligned[k][i] is the lowest such class that is a multiple of 32<<k
type ladder struct {
	tab     []uint8 // class by (size-1)/16; ends with the largest request
	aligned [alignRows][]uint8
	sizes   []uint32 // bytes by class
}

// newLadder builds the lookup tables. Where the top class is no multiple of a page one more
// is added that only aligned requests use, so that every alignment has a class.
func newLadder(t ClassTable, maxSize uintptr) (ladder, error) {
	if maxSize > largest {
		return ladder{}, fmt.Errorf("slab: new Heap: MaxSize %d: want at most %d: %w", maxSize, largest, memory.ErrConfig)
	}
	sizes := t.Sizes(maxSize)
	if sizes == nil {
		return ladder{}, fmt.Errorf("slab: new Heap: Classes %v: want Geometric, PowerOfTwo, Step16 or Fibonacci: %w", t, memory.ErrConfig)
	}
	top := sizes[len(sizes)-1]
	if page := align.Up(top, memory.MaxAlign); page != top {
		sizes = append(sizes, page)
	}
	if len(sizes) > maxClasses {
		return ladder{}, fmt.Errorf("slab: new Heap: Classes %v with MaxSize %d: %d classes, want at most %d: %w", t, maxSize, len(sizes), maxClasses, memory.ErrConfig)
	}
	l := ladder{sizes: make([]uint32, len(sizes))}
	for i, s := range sizes {
		l.sizes[i] = uint32(s)
	}
	rungs := top >> granuleShift
	l.tab = l.row(rungs, granule)
	for k := range l.aligned {
		l.aligned[k] = l.row(rungs, firstAlign<<k)
	}
	return l, l.check()
}

// row tabulates the lowest class that is a multiple of al, for each size in granules.
func (l *ladder) row(rungs, al uintptr) []uint8 {
	row := make([]uint8, rungs)
	class := 0
	for i := range row {
		for l.sizes[class] < uint32(i+1)<<granuleShift || uintptr(l.sizes[class])%al != 0 {
			class++
		}
		row[i] = uint8(class)
	}
	return row
}

// class returns the class that serves size bytes aligned to al, which is valid. ok is false
// where size is beyond the ladder.
func (l *ladder) class(size, al uintptr) (ci uint8, ok bool) {
	i := (max(size, 1) - 1) >> granuleShift
	if i >= uintptr(len(l.tab)) {
		return 0, false
	}
	if al < firstAlign {
		return l.tab[i], true
	}
	return l.aligned[bits.TrailingZeros(uint(al/firstAlign))][i], true
}

// serves reports whether a request of size bytes, at some alignment, gets class ci.
func (l *ladder) serves(ci uint8, size uintptr) bool {
	i := (max(size, 1) - 1) >> granuleShift
	if i >= uintptr(len(l.tab)) {
		return false
	}
	if lowest := l.tab[i]; lowest >= ci { // no alignment gets a lower one
		return lowest == ci
	}
	for k := range l.aligned {
		if l.aligned[k][i] == ci {
			return true
		}
	}
	return false
}

// check verifies the equations above the type. Cost: proportional to rungs and alignments.
func (l *ladder) check() error {
	r := &findings.List{Of: "slab"}
	for i, size := range l.sizes {
		if size == 0 || size%granule != 0 || i > 0 && size <= l.sizes[i-1] {
			r.Add("class %d of %d bytes does not ascend in whole granules", i, size)
			return r.Err()
		}
	}
	l.checkRow(r, l.tab, granule)
	for k := range l.aligned {
		l.checkRow(r, l.aligned[k], firstAlign<<k)
	}
	return r.Err()
}

// checkRow verifies that row names the lowest class for each size aligned to al.
func (l *ladder) checkRow(r *findings.List, row []uint8, al uint32) {
	if len(row) != len(l.tab) {
		r.Add("%d of %d sizes have a class aligned to %d", len(row), len(l.tab), al)
	}
	low := 0
	for i, ci := range row {
		size := uint32(i+1) << granuleShift
		for low < len(l.sizes) && (l.sizes[low] < size || l.sizes[low]%al != 0) {
			low++
		}
		if int(ci) != low {
			r.Add("requests of %d bytes aligned to %d are sent to class %d, the lowest for them is %d", size, al, ci, low)
		}
	}
}

// leastUnits returns how many units hold one block of size bytes.
func leastUnits(size uintptr) uintptr { return (size + unitBytes - 1) >> unitShift }

// fairUnits returns how many units, n or a few more, suit blocks of size bytes: those that the
// blocks fill without a rest, where n is about as many, or else the fewest of which they leave
// at most an eighth unused; a quarter for n == 0, where a second block would be more.
func fairUnits(size, n uintptr) uintptr {
	if full := fullUnits(size); full <= 2*n || full == leastUnits(size) {
		return (max(n, 1) + full - 1) / full * full
	}
	share := uintptr(8)
	if n == 0 {
		share = 4
	}
	n = max(n, leastUnits(size))
	for restOf(size, n)*share > n<<unitShift {
		n++
	}
	return n
}

// fitUnits returns how many of n units blocks of size bytes take best, in the manner of
// fairUnits; never fewer than hold a block.
func fitUnits(size, n uintptr) uintptr {
	if full := fullUnits(size); full <= n {
		return n - n%full
	}
	least := leastUnits(size)
	for n > least && restOf(size, n)*4 > n<<unitShift {
		n--
	}
	return n
}

// restOf returns the bytes of n units that blocks of size bytes leave unused.
func restOf(size, n uintptr) uintptr { return n << unitShift % size }

// fullUnits returns the fewest units that blocks of size bytes fill without a rest.
func fullUnits(size uintptr) uintptr { return max(size/min(size&-size, unitBytes), 1) }

// spanStep returns the multiple of units at which a span of size-byte blocks starts, so that
// its blocks are aligned to every power of two up to a page that divides their size.
func spanStep(size uintptr) uintptr { return max(min(size&-size, memory.MaxAlign)>>unitShift, 1) }
