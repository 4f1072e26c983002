package ecs

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

const (
	// columnAlign lets vector code load any column from its first row.
	columnAlign = 16

	// maxHeapBytes bounds the columns of one chunk in the Go heap. While a collection marks, Go has the goroutine
	// that allocates a block mark in proportion to its bytes, before it may go on. With columns of 1 MiB that took up
	// to 1.5 ms of one creation, with 256 KiB .4 ms. Walks by All took 2 % more for 100,000 entities and some 10 %
	// for a million. Columns of 64 KiB took .2 ms, and a walk over a million took up to half as long again.
	maxHeapBytes = 256 << 10
)

// A column is one component of a table.
type column struct {
	size uint32 // bytes per row; 0 for a tag, whose cells are all the same address
	comp *component
}

// alignUp returns the first offset from end on at which a column may begin.
func alignUp(end uintptr) uintptr { return (end + columnAlign - 1) &^ (columnAlign - 1) }

// place returns the offset of the column in a chunk of n rows, when those before it end at
// end, and where it ends itself.
func (k *column) place(end, n uintptr) (off, after uintptr) {
	if k.size == 0 {
		return 0, end // a tag stays at offset 0: an address behind the last column may be outside
	}
	off = alignUp(end)
	return off, off + n*uintptr(k.size)
}

// A tableChunk is a table's view of one of its chunks.
type tableChunk struct {
	number uint32 // in the directory
	first  uint32 // rows in the chunks before it when they are full
	cap    uint32 // rows that it has room for
}

// A table is an archetype: the rows of all entities with exactly the same components and, where
// some of them are relations, the same targets.
//
//	chunks[0]      chunks[tail]         chunks[tail+1]
//	 | full | … |   tailN rows |   ...   | spare, at most one |
//
// Chunks are of growing sizes, see directory; a chunk is of a smaller one where the allocator
// had none, or where it was the spare of another table.
//
// Invariants, verified in this order by check:
//
//	(1) the columns are those of mask, each with that of its ticks behind it where it is tracked; caps[i] is
//	    the most rows that a block of sizes[i] has space for, each column aligned, and at most
//	    maxRows; heapBytes is the size of a row in the Go heap; first is the class of its first
//	    chunks, last the largest that these rows fill; step is what caps[first], or without
//	    relations those of Config.ChunkBytes, would be if nothing was tracked
//	(2) chunks[0] … chunks[tail-1] are full, 0 < tailN <= cap unless the table is empty
//	(3) len(chunks) <= chunks in use + 1, unless a batch tells observers before it begins
//	(4) chunks[i].number names a directory entry with this table, position i and a class
//	    whose caps it has, or the rows that a class allows in the Go heap; first is the sum of cap
//	    before it
//	(5) the entity of each row is alive and its record names that chunk and row
//	(6) rows of pointerful columns that hold no entity are zero
//	(7) held has the pointerful columns of each chunk in turn, so that they are not collected
type table struct {
	tailBase    unsafe.Pointer // block of chunks[tail]
	tailLoc     uint32         // location of its row 0
	tailN       uint32         // rows in it
	limit       uint32         // rows that it has room for, or 0 while the table has no chunk
	tail        int
	mask        mask
	chunks      []tableChunk
	columns     []column // pointer-free
	heap        []column // pointerful
	held        []unsafe.Pointer
	byComponent []*transition // by the ID of the component that comes or goes; as long as it was needed
	multi       []*transition // to tables that differ in several components
	retargeting []*transition // to tables with a relation to another target, or with one more, and maybe other components
	variants    *variants     // nil without relations
	targets     targets
	caps        [maxClasses]uint32 // 0 where no row fits
	first       uint32             // class
	last        uint32             // class of the largest chunks that it asks for
	step        uint32             // rows that Hash reads column by column
	gen         uint32             // counts retirements: transitions from before lead nowhere
	idle        bool               // see variants
	next        uint32             // see slotted
	since       uint64             // when it got its targets: see variants
	spareLink   spareLink
	rowBytes    uint32 // pointer-free bytes per row, the entity included
	heapBytes   uint32 // bytes per row in the Go heap
	index       int    // in archetypes.tables
}

// newTable returns an empty table that is not enlisted.
func newTable(m mask, comps []*component, d *directory, ofKin bool) (*table, error) {
	t := &table{mask: m, columns: make([]column, 0, columnsOf(m, comps))}
	row, ticks, heap := entityBytes, uintptr(0), uintptr(0) // in uintptr: the sum of many large types may pass 32 bits
	for id := range m.ids() {
		c := comps[id]
		if k := (column{size: uint32(c.size), comp: c}); c.pointerful {
			t.heap = append(t.heap, k)
			heap += c.size
		} else {
			row += c.size
			t.columns = append(t.columns, k)
		}
		if c.ticks != nil {
			ticks += tickBytes
			t.columns = append(t.columns, column{size: uint32(tickBytes), comp: c.ticks})
		}
	}
	if err := t.fit(row+ticks, comps, d); err != nil {
		return nil, err
	}
	t.heapBytes = uint32(min(heap, maxChunkBytes)) // of larger rows a chunk has one
	if t.step = t.caps[t.stepClass(d, ofKin)]; ticks > 0 {
		plain := &table{mask: m}
		for _, k := range t.columns {
			if k.comp.owner == nil {
				plain.columns = append(plain.columns, k)
			}
		}
		_ = plain.fit(row, comps, d) // as the wider rows do
		t.step = plain.caps[plain.stepClass(d, ofKin)]
	}
	return t, nil
}

// columnsOf returns the number of pointer-free columns of a table with the components of m.
func columnsOf(m mask, comps []*component) (n int) {
	for id := range m.ids() {
		if !comps[id].pointerful {
			n++
		}
		if comps[id].ticks != nil {
			n++
		}
	}
	return n
}

// stepClass returns the class whose rows Hash reads column by column.
func (t *table) stepClass(d *directory, ofKin bool) uint32 {
	if ofKin {
		return t.first
	}
	return d.first
}

// fit works out how many rows of so many bytes the blocks have space for.
func (t *table) fit(row uintptr, comps []*component, d *directory) error {
	t.first = d.first
	for i, size := range d.sizes {
		n := size / row
		if n <= maxRows {
			t.last = max(t.last, uint32(i))
		}
		n = min(n, maxRows)
		for n > 0 && t.end(n) > size {
			n--
		}
		if n == 0 && uint32(i) < d.first {
			continue
		}
		if n == 0 {
			return fmt.Errorf("ecs: a row of %d bytes (%s) does not fit a chunk of %d; raise Config.ChunkBytes: %w",
				row, strings.Join(names(t.mask, comps), ", "), size, memory.ErrTooLarge)
		}
		t.caps[i] = uint32(n)
		t.first = min(t.first, uint32(i))
	}
	t.last = max(t.last, t.first)
	t.rowBytes = uint32(row)
	return nil
}

// rowsAt returns the rows of a chunk of some class that lies in a block of another one: as many as fit
// the block, and of pointerful columns as many as take the bytes of the class or maxHeapBytes, or one.
func (d *directory) rowsAt(t *table, class, block uint32) uint32 {
	if t.heapBytes == 0 {
		return t.caps[block]
	}
	return min(t.caps[block], max(min(uint32(d.sizes[class]), maxHeapBytes)/t.heapBytes, 1))
}

// blockOf returns the class of the smallest block for all rows of a chunk of some class.
func (d *directory) blockOf(t *table, class uint32) uint32 {
	if t.heapBytes == 0 {
		return class
	}
	block := t.first
	for block < class && t.caps[block] < d.rowsAt(t, class, class) {
		block++
	}
	return block
}

// end returns the bytes that the columns take for n rows.
func (t *table) end(n uintptr) uintptr {
	end := n * entityBytes
	for i := range t.columns {
		_, end = t.columns[i].place(end, n)
	}
	return end
}

// capacity returns the rows that the chunks have room for.
func (t *table) capacity() int {
	if len(t.chunks) == 0 {
		return 0
	}
	last := &t.chunks[len(t.chunks)-1]
	return int(last.first) + int(last.cap)
}

// rows returns the number of entities.
func (t *table) rows() int {
	if t.tailN == 0 {
		return 0
	}
	return int(t.chunks[t.tail].first) + int(t.tailN)
}

// used returns the number of chunks that hold rows.
func (t *table) used() int {
	if t.tailN == 0 {
		return 0
	}
	return t.tail + 1
}

// grow makes room for one row behind a full tail: in the spare chunk, or in a new one.
//
//go:noinline
func (s *store) grow(t *table) error {
	next := t.used()
	if next == len(t.chunks) {
		if err := s.addChunk(t); err != nil {
			return err
		}
	}
	s.setTail(t, next, 0)
	return nil
}

// setTail makes chunk i, holding n rows, the one that rows come and go at.
func (d *directory) setTail(t *table, i int, n uint32) {
	t.tail, t.tailN = i, n
	if i >= len(t.chunks) {
		t.tailBase, t.tailLoc, t.limit = nil, 0, 0
		return
	}
	k := &t.chunks[i]
	t.tailBase, t.tailLoc, t.limit = d.chunks[k.number].base, k.number<<rowBits, k.cap
}

// vacate fills the row at loc with the table's last one and shortens the table. A chunk that
// is then one too many waits for freePending.
func (s *store) vacate(loc uint32) {
	t := s.tableAt(loc)
	last := t.tailN - 1
	if loc != t.tailLoc+last {
		moved := *entityAt(t.tailBase, last)
		*s.entity(loc) = moved
		dst, src := s.row(loc>>rowBits), s.row(t.tailLoc>>rowBits)
		row := uintptr(loc & rowMask)
		for i := range t.columns {
			k := &t.columns[i]
			id, size := k.comp.id, uintptr(k.size)
			copyRow(unsafe.Add(dst[id].pointer(), row*size), unsafe.Add(src[id].pointer(), uintptr(last)*size), size)
		}
		s.index.at(moved.index).loc = loc
	}
	if len(t.heap) > 0 {
		s.vacateHeap(t, loc)
	}
	t.tailN = last
	if last == 0 {
		s.retreat(t)
	}
}

// vacateHeap does for pointerful columns what vacate does for the others, and zeroes the
// last row, so that the collector can let go of what it held.
func (s *store) vacateHeap(t *table, loc uint32) {
	last := t.tailLoc + t.tailN - 1
	for i := range t.heap {
		comp := t.heap[i].comp
		from := s.cell(last, comp.id, comp.size)
		if loc != last {
			comp.copyCells(s.cell(loc, comp.id, comp.size), from, 1)
		}
		comp.clearCells(from, 1)
	}
}

// retreat steps back from a chunk that became empty. The empty chunk is the table's spare,
// so that an entity coming and going at the edge costs no call of the allocator.
//
//go:noinline
func (s *store) retreat(t *table) {
	if t.tail > 0 {
		s.setTail(t, t.tail-1, t.chunks[t.tail-1].cap)
	}
	s.dropChunks(t, t.used()+1)
	s.listSpare(t)
}

// dropChunks keeps the first n chunks of t, which include all that hold rows unless n is 0.
// The others wait for freePending.
func (s *store) dropChunks(t *table, n int) {
	if n == 0 {
		s.setTail(t, 0, 0)
	}
	for len(t.chunks) > n {
		number := s.detach(t)
		s.chunks[number].pos = s.pending
		s.pending = number + 1
	}
}
