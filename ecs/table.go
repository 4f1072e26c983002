package ecs

import (
	"fmt"
	"math/bits"
	"strings"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

const (
	// columnAlign lets vector code load any column from its first row.
	columnAlign = 16
)

// A column is one component of a table.
type column struct {
	off  uint32 // bytes from the chunk's base; 0 for pointerful columns
	size uint32 // bytes per row; 0 for a tag, whose cells are all the same address
	comp *component
}

// A tableChunk is a table's view of one of its chunks.
type tableChunk struct {
	base   unsafe.Pointer
	number uint32 // in the directory
}

// A table is an archetype: the rows of all entities with exactly the same components.
//
//	chunks[0]            chunks[tail]         chunks[tail+1]
//	 | cap rows, full | … | tailN rows |   ... | spare, at most one |
//
// Invariants, verified in this order by check:
//
//	(1) the columns are those of mask; in a chunk they are aligned, do not overlap and end
//	    within chunkBytes, and no more rows would fit
//	(2) chunks[0] … chunks[tail-1] are full, 0 < tailN <= cap unless the table is empty
//	(3) len(chunks) <= chunks in use + 1
//	(4) chunks[i].number names a directory entry with this table, base and position i
//	(5) the entity of each row is alive and its record names that chunk and row
//	(6) rows of pointerful columns that hold no entity are zero
type table struct {
	tailBase unsafe.Pointer // block of chunks[tail]
	tailLoc  uint32         // location of its row 0
	tailN    uint32         // rows in it
	limit    uint32         // cap, or 0 while the table has no chunk
	cap      uint32         // rows per chunk
	tail     int
	mask     uint64
	chunks   []tableChunk
	columns  []column // pointer-free
	heap     []column // pointerful
	toggle   [MaxComponents]*edge
	far      []*edge // to tables that differ in several components
	rowBytes uint32  // pointer-free bytes per row, the entity included
	index    int     // in World.tables
}

func newTable(mask uint64, comps []*component, chunkBytes uintptr) (*table, error) {
	t := &table{mask: mask, rowBytes: uint32(entityBytes)}
	row := entityBytes // in uintptr: the sum of 64 large types may pass 32 bits
	for m := mask; m != 0; m &= m - 1 {
		c := comps[bits.TrailingZeros64(m)]
		if c.pointerful {
			t.heap = append(t.heap, column{size: uint32(c.size), comp: c})
			continue
		}
		row += c.size
		t.columns = append(t.columns, column{size: uint32(c.size), comp: c})
	}
	for n := chunkBytes / row; n > 0; n-- {
		if t.place(n) <= chunkBytes {
			t.cap, t.rowBytes = uint32(n), uint32(row)
			return t, nil
		}
	}
	return nil, fmt.Errorf("ecs: a row of %d bytes (%s) does not fit a chunk of %d; raise Config.ChunkBytes: %w",
		row, strings.Join(names(mask, comps), ", "), chunkBytes, memory.ErrTooLarge)
}

// place lays out the columns for n rows and returns the bytes that they take.
func (t *table) place(n uintptr) uintptr {
	end := n * entityBytes
	for i := range t.columns {
		c := &t.columns[i]
		if c.size == 0 {
			continue // a tag stays at offset 0: an address behind the last column may be outside
		}
		off := (end + columnAlign - 1) &^ (columnAlign - 1)
		c.off = uint32(off)
		end = off + n*uintptr(c.size)
	}
	return end
}

// rows returns the number of entities.
func (t *table) rows() int { return t.tail*int(t.cap) + int(t.tailN) }

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
func (w *World) grow(t *table) error {
	next := t.used()
	if next == len(t.chunks) {
		if err := w.addChunk(t); err != nil {
			return err
		}
	}
	w.setTail(t, next, 0)
	return nil
}

// setTail makes chunk i, holding n rows, the one that rows come and go at.
func (w *World) setTail(t *table, i int, n uint32) {
	t.tail, t.tailN = i, n
	if i >= len(t.chunks) {
		t.tailBase, t.tailLoc, t.limit = nil, 0, 0
		return
	}
	t.tailBase, t.tailLoc, t.limit = t.chunks[i].base, t.chunks[i].number<<rowBits, t.cap
}

// vacate fills the row at loc with the table's last one and shortens the table. A chunk that
// is then one too many waits for settle.
func (w *World) vacate(loc uint32) {
	c := &w.chunks[loc>>rowBits]
	t := c.table
	last := t.tailN - 1
	if loc != t.tailLoc+last {
		row := loc & rowMask
		moved := *entityAt(t.tailBase, last)
		*entityAt(c.base, row) = moved
		for i := range t.columns {
			k := &t.columns[i]
			off, size := uintptr(k.off), uintptr(k.size)
			copyRow(unsafe.Add(c.base, off+uintptr(row)*size), unsafe.Add(t.tailBase, off+uintptr(last)*size), size)
		}
		w.ents.at(moved.index).loc = loc
	}
	if len(t.heap) > 0 {
		w.vacateHeap(t, loc)
	}
	t.tailN = last
	if last == 0 {
		w.retreat(t)
	}
}

// vacateHeap does for pointerful columns what vacate does for the others, and zeroes the
// last row, so that the collector can let go of what it held.
func (w *World) vacateHeap(t *table, loc uint32) {
	last := t.tailLoc + t.tailN - 1
	for i := range t.heap {
		comp := t.heap[i].comp
		from := w.cell(last, comp.id, comp.size)
		if loc != last {
			comp.copyCells(w.cell(loc, comp.id, comp.size), from, 1)
		}
		comp.clearCells(from, 1)
	}
}

// retreat steps back from a chunk that became empty. The empty chunk is the table's spare,
// so that an entity coming and going at the edge costs no call of the allocator.
//
//go:noinline
func (w *World) retreat(t *table) {
	if t.tail > 0 {
		w.setTail(t, t.tail-1, t.cap)
	}
	w.dropChunks(t, t.used()+1)
}

// dropChunks keeps the first n chunks of t, which include all that hold rows unless n is 0.
// The others wait for settle.
func (w *World) dropChunks(t *table, n int) {
	if n == 0 {
		w.setTail(t, 0, 0)
	}
	for len(t.chunks) > n {
		number := w.detach(t)
		w.chunks[number].pos = w.waiting
		w.waiting = number + 1
	}
}
