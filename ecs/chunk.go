package ecs

import (
	"errors"
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
	table *table         // nil while the number is free or its block waits to be freed
	pos   uint32         // position in table.chunks; otherwise the next of its list + 1, 0 at the end
}

// A directory numbers all chunks of a world and brings their blocks from the allocator.
//
// Invariants, verified in this order by check:
//
//	(1) a number is free, waits to be freed, or exactly one table has it in its chunks
//	(2) live is the number of those that are not free
//	(3) len(columns) == len(chunks) * width, and width has room for every component type
//	(4) columns[number*width+id] is row 0 of that column: in the block for pointer-free
//	    types, in the Go heap for pointerful ones, nil where the archetype has none
type directory struct {
	// columns makes a random look-up two dependent loads behind the entity's record, with
	// no difference between the kinds of column. Going through the table took three loads
	// and could not be inlined: 1.7 times as long in a world of a million entities.
	columns     []unsafe.Pointer
	width       uint // component types that columns has room for
	chunks      []chunk
	freeNumber  uint32 // first free number + 1; 0 when there is none
	waiting     uint32 // first number whose block is to be freed + 1; 0 when there is none
	live        int    // blocks held
	chunkBytes  uintptr
	mem         memory.Allocator
	outOfChunks error // made once: a tier that is full every frame must not allocate
}

// minWidth is one cache line of columns: a chunk's addresses come with a single miss.
const minWidth = 8

func newDirectory(mem memory.Allocator, chunkBytes int) directory {
	return directory{
		mem: mem, width: minWidth, chunkBytes: uintptr(chunkBytes),
		outOfChunks: fmt.Errorf("ecs: a chunk of %d bytes: %w", chunkBytes, memory.ErrOutOfMemory),
	}
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

// maxChunks is how many numbers a location can hold.
const maxChunks = 1 << (32 - rowBits)

// ask brings a block from the allocator, while the world is locked: a callback of the
// allocator that changed it would do so in the middle of a change.
func (w *World) ask() (base unsafe.Pointer, err error) {
	if w.freeNumber == 0 && len(w.chunks) >= maxChunks {
		return nil, fmt.Errorf("ecs: all %d chunk numbers are taken: %w", len(w.chunks), memory.ErrOutOfMemory)
	}
	w.beginAsking()
	defer w.endAsking()
	base, err = w.mem.Alloc(w.chunkBytes, chunkAlign)
	switch {
	case w.open >= closedMark: // closed from within Alloc
		return nil, fmt.Errorf("ecs: a chunk of %d bytes: %w", w.chunkBytes, memory.ErrClosed)
	case err == memory.ErrOutOfMemory, err == nil && base == nil:
		return nil, w.outOfChunks
	case errors.Is(err, memory.ErrClosed): // and all blocks with it
		w.lost()
		fallthrough
	case err != nil:
		return nil, fmt.Errorf("ecs: a chunk of %d bytes: %w", w.chunkBytes, err)
	}
	return base, nil
}

func (l *locks) beginAsking() {
	l.open++
	l.asking = true
}

func (l *locks) endAsking() {
	l.open--
	l.asking = false
}

// attach appends a block to the chunks of t.
func (w *World) attach(t *table, base unsafe.Pointer) {
	d := &w.directory
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
	d.chunks[number] = chunk{base: base, table: t, pos: uint32(len(t.chunks))}
	d.live++
	d.setColumns(number)
	t.chunks = append(t.chunks, tableChunk{base: base, number: number})
}

// detach takes the last chunk from t, which holds no row, and lets go of its columns.
func (w *World) detach(t *table) (number uint32) {
	last := len(t.chunks) - 1
	number = t.chunks[last].number
	t.chunks[last] = tableChunk{}
	t.chunks = t.chunks[:last]
	if last == 0 {
		w.setTail(t, 0, 0)
	}
	clear(w.row(number))
	w.chunks[number].table = nil
	return number
}

// recycle frees the number of a detached chunk and returns its block.
func (d *directory) recycle(number uint32) unsafe.Pointer {
	base := d.chunks[number].base
	d.chunks[number] = chunk{pos: d.freeNumber}
	d.freeNumber = number + 1
	d.live--
	return base
}

// settle frees the blocks that wait. Every operation ends with it, when its books are right:
// whatever the allocator does, a panic included, the operation is complete.
func (w *World) settle() {
	if w.waiting != 0 {
		w.freeWaiting()
	}
}

// freeWaiting offers every block that waits to the allocator once.
//
//go:noinline
func (w *World) freeWaiting() {
	w.beginAsking()
	defer w.endAsking()
	for w.waiting != 0 {
		number := w.waiting - 1
		w.waiting = w.chunks[number].pos
		w.mem.Free(w.recycle(number), w.chunkBytes)
	}
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
