package ecs

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A location names a row as chunk<<rowBits | row. The entity column alone takes 8 bytes per
// row, so 13 bits number the rows of the largest chunk, of 64 KiB; 19 bits are left for
// 8 GiB of chunks of 16 KiB. Constants, not fields: a random look-up executes them between
// two cache misses.
const (
	rowBits = 13
	rowMask = 1<<rowBits - 1
)

// A chunk is the directory's entry for one block.
type chunk struct {
	base  unsafe.Pointer // the block, chunkBytes long; nil while the number is free
	table *table
	pos   uint32 // position in table.chunks; while free: the next free number + 1, 0 at the end
}

// A directory numbers all chunks of a world and brings their blocks from the allocator.
//
// Invariants, verified in this order by check:
//
//	(1) a number is free, or exactly one table has it in its chunks
//	(2) live is the number of those that tables have
//	(3) len(columns) == len(chunks) * width
//	(4) columns[number*width+id] is row 0 of that column: in the block for pointer-free
//	    types, in the Go heap for pointerful ones, nil where the archetype has none
type directory struct {
	// columns makes a random look-up two dependent loads behind the entity's record, with
	// no difference between the kinds of column. Going through the table took three loads
	// and could not be inlined: 1.7 times as long in a world of a million entities.
	columns    []unsafe.Pointer
	width      uint // component types that columns has room for
	chunks     []chunk
	freeNumber uint32 // first free number + 1; 0 when there is none
	live       int
	chunkBytes uintptr
	mem        memory.Allocator
}

// minWidth is one cache line of columns: a chunk's addresses come with a single miss.
const minWidth = 8

func newDirectory(mem memory.Allocator, chunkBytes int) directory {
	return directory{mem: mem, width: minWidth, chunkBytes: uintptr(chunkBytes)}
}

const entityBytes = unsafe.Sizeof(Entity{})

// entityAt returns the cell of the entity column, which starts every chunk.
func entityAt(base unsafe.Pointer, row uint32) *Entity {
	return (*Entity)(unsafe.Add(base, uintptr(row)*entityBytes))
}

// column returns row 0 of component id in a chunk, or nil when its archetype has none.
func (d *directory) column(number uint32, id ID) unsafe.Pointer {
	return d.columns[uint(number)*d.width+uint(id)]
}

// cell returns the address of component id at loc, whose archetype has it.
func (d *directory) cell(loc uint32, id ID, size uintptr) unsafe.Pointer {
	return unsafe.Add(d.columns[uint(loc>>rowBits)*d.width+uint(id)], uintptr(loc&rowMask)*size)
}

// tableAt returns the archetype of the row at loc.
func (d *directory) tableAt(loc uint32) *table { return d.chunks[loc>>rowBits].table }

// acquire brings a chunk for position pos of t, or changes nothing.
func (d *directory) acquire(t *table, pos int) (uint32, error) {
	if d.freeNumber == 0 && len(d.chunks) >= 1<<(32-rowBits) {
		return 0, fmt.Errorf("ecs: all %d chunk numbers are taken: %w", len(d.chunks), memory.ErrOutOfMemory)
	}
	base, err := d.mem.Alloc(d.chunkBytes, chunkAlign)
	if err != nil {
		return 0, fmt.Errorf("ecs: a chunk of %d bytes: %w", d.chunkBytes, err)
	}
	var number uint32
	if d.freeNumber != 0 {
		number = d.freeNumber - 1
		d.freeNumber = d.chunks[number].pos
	} else {
		number = uint32(len(d.chunks))
		d.chunks = append(d.chunks, chunk{})
		for range d.width {
			d.columns = append(d.columns, nil)
		}
	}
	d.chunks[number] = chunk{base: base, table: t, pos: uint32(pos)}
	d.setColumns(number)
	d.live++
	return number, nil
}

// setColumns points the columns of a new chunk at its block, and makes the pointerful ones.
func (d *directory) setColumns(number uint32) {
	c := &d.chunks[number]
	columns := d.row(number)
	for i := range c.table.columns {
		k := &c.table.columns[i]
		columns[k.comp.id] = unsafe.Add(c.base, uintptr(k.off))
	}
	for i := range c.table.heap {
		comp := c.table.heap[i].comp
		columns[comp.id] = comp.makeColumn(int(c.table.cap))
	}
}

// row returns the column addresses of one chunk.
func (d *directory) row(number uint32) []unsafe.Pointer {
	at := uint(number) * d.width
	return d.columns[at : at+d.width]
}

// giveBack returns the block of a chunk to the allocator and lets go of its columns.
func (d *directory) giveBack(number uint32) {
	clear(d.row(number))
	c := &d.chunks[number]
	base := c.base
	*c = chunk{pos: d.freeNumber}
	d.freeNumber = number + 1
	d.live--
	d.mem.Free(base, d.chunkBytes)
}

// widen makes room for n component types. It copies the addresses of all chunks, which is
// why it doubles: three times at most in the life of a world.
func (d *directory) widen(n int) {
	width := d.width
	for width < uint(n) {
		width *= 2
	}
	if width == d.width {
		return
	}
	columns := make([]unsafe.Pointer, uint(len(d.chunks))*width)
	for i := range d.chunks {
		copy(columns[uint(i)*width:], d.row(uint32(i)))
	}
	d.columns, d.width = columns, width
}
