package ecs

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// An address is where a column lies, in a word that the collector does not look at: it would
// look at each of them on every cycle, and find that it is none of its business. Blocks are
// kept by chunk.base, columns in the Go heap by table.held, and neither moves.
//
// One base and offsets from it would do for one reservation; blocks may come from any
// allocator, though, and columns of pointerful types come from the Go heap.
type address uintptr

func (a *address) pointer() unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(a)) }

// A chunk is the directory's entry for one segment of a block.
type chunk struct {
	// base is the segment's first entity. Of the first segment it is the block, of sizes[class]
	// bytes; nil while the segment is free. It is a pointer because an allocator on the Go heap
	// may keep none itself. There are some five hundred to a million entities.
	base  unsafe.Pointer
	table uint32 // index in archetypes.tables + 1; 0 while the segment is free or its block waits to be freed
	pos   uint32 // position in table.chunks; otherwise the next of its list + 1, 0 at the end
	class uint32 // of its size; of a free run see segments
	run   uint8  // order + 1 in the first segment of a run
}

// A directory numbers all chunks of a world and allocates their blocks. It holds one pointer per
// segment.
//
// Invariants, verified in this order by check:
//
//	(1) a run of segments is free, waits to be freed, or exactly one table has it in its chunks
//	(2) live is the number of runs that are not free, and bytes the size of their blocks
//	(3) len(columns) == len(chunks) * width, and width has room for every component type
//	(4) columns[segment*width+id] is the segment's row 0 of that column: in the block for
//	    pointer-free types, in the Go heap for pointerful ones, 0 where the archetype has none and
//	    behind the last row of the chunk; the lane of the component says the same. Segments that no
//	    table has lead nowhere
//	(5) sizes are those of Config: FirstChunkBytes, four times as much, and so on to ChunkBytes,
//	    which sizes[first] is, and from there to MaxChunkBytes
type directory struct {
	// columns makes a look-up two dependent loads behind the entity's record, with no
	// difference between the kinds of column; Component.Get has it shorter, by a lane. Going
	// through the table took three loads and could not be inlined: 1.7 times as long in a
	// world of a million entities.
	columns []address
	width   uint // component types that columns has room for
	segments
	pending       uint32 // first chunk whose block is to be freed + 1; 0 when there is none
	live          int    // blocks held
	bytes         uint64 // that they take
	layoutVersion uint64 // rises whenever a column comes to lie elsewhere, from 1
	sizes         []uintptr
	first         uint32 // class of Config.ChunkBytes
	draft         bool   // what a text is read into: the components, and the lanes, are those of another world
	spareList     spareList
	mem           memory.Allocator
	outOfChunks   [maxClasses]outOfChunks
}

// perClass is how many chunks of one size a table has before the next is four times as large, unless
// many rows are created at once: at most half of the bytes of a table over 64 KiB wait for rows, and
// a walk over a large one enters new columns once in four megabytes. Below ChunkBytes a table without
// relations has one of each size. Most such tables have a few entities or so many that small chunks cost
// a walk more. A table with relations has perClass of the first size, and twice as many of each further one. In a
// tree with a thousand children per node, perClass of each left a third of the bytes without rows.
const perClass = 4

// dueClass returns the class of the chunk at position i of t.
func (d *directory) dueClass(t *table, i int) uint32 {
	class := int(t.first)
	if small := int(d.first) - class; small > 0 {
		each, before := 1, small // chunks of a size below ChunkBytes, and of all those sizes
		if t.variants != nil {
			each, before = 2*perClass, 2*perClass*small
			i += perClass // as if the table had as many of the first size
		}
		if i < before {
			return uint32(min(class+i/each, int(t.last)))
		}
		class, i = int(d.first), i-before
	}
	return uint32(min(class+i/perClass, int(t.last)))
}

// batchClass returns the class of the next chunk of t when n rows are to come at once: a larger one than
// is due where they do not fit that and fill half of the larger one, so that a walk over them begins anew
// less often. Of the size behind the first they need fill a third: to begin anew costs some 20 ns, which
// is 6 % of a walk with a light body over the few hundred rows that 16 KiB hold, and 1 % over those of 64.
func (d *directory) batchClass(t *table, n int) uint32 {
	class := d.dueClass(t, len(t.chunks))
	rows := int(d.rowsAt(t, class, class))
	for class < t.last && n > rows {
		next := int(d.rowsAt(t, class+1, class+1))
		if n*d.fillShare(class+1) < next {
			break
		}
		class, rows = class+1, next
	}
	return class
}

// fillShare returns what part of a chunk of a class a batch has to fill, as 1/share, to have it before it is due.
func (d *directory) fillShare(class uint32) int {
	if class <= d.first+1 {
		return 3
	}
	return 2
}

// minWidth is one cache line of columns: a chunk's addresses come with a single miss.
const minWidth = 8

func newDirectory(mem memory.Allocator, cfg Config) directory {
	sizes, first := cfg.sizes()
	return directory{mem: mem, layoutVersion: 1, width: minWidth, sizes: sizes, first: uint32(first)}
}

// An outOfChunks is the last error of a class and the error that wraps it. An arena or pool that is full returns one
// error again and again: a world that is full every frame must not allocate.
type outOfChunks struct{ cause, err error }

// noChunk returns the error of a class that the allocator has no block of. Only pointers are compared: a comparison of
// other values may panic.
func (d *directory) noChunk(class uint32, cause error) error {
	o := &d.outOfChunks[class]
	if o.err == nil || reflect.TypeOf(cause).Kind() != reflect.Pointer || o.cause != cause {
		*o = outOfChunks{cause, fmt.Errorf("ecs: a chunk of %d bytes: %w", d.sizes[class], cause)}
	}
	return o.err
}

const entityBytes = unsafe.Sizeof(Entity{})

// entityAt returns the cell of the entity column, which starts every chunk.
func entityAt(base unsafe.Pointer, row uint32) *Entity {
	return (*Entity)(unsafe.Add(base, uintptr(row)*entityBytes))
}

// column returns row 0 of component id in a chunk, or nil when its archetype has none.
func (d *directory) column(number uint32, id ID) unsafe.Pointer {
	return d.columns[uint(number)*d.width+uint(id)].pointer()
}

// cell returns the address of component id at loc, whose archetype has it.
func (d *directory) cell(loc uint32, id ID, size uintptr) unsafe.Pointer {
	return unsafe.Add(d.columns[uint(loc>>rowBits)*d.width+uint(id)].pointer(), uintptr(loc&rowMask)*size)
}

// entity returns the cell of the entity at loc.
func (d *directory) entity(loc uint32) *Entity {
	return entityAt(d.chunks[loc>>rowBits].base, loc&rowMask)
}

// tableAt returns the archetype of the row at loc.
func (s *store) tableAt(loc uint32) *table { return s.tables[s.chunks[loc>>rowBits].table-1] }

// allocBlock allocates a block for a chunk of t of a class, a smaller one if the allocator has none: what is left of a
// budget is used up before anything fails. It returns the class of the block.
func (s *store) allocBlock(t *table, most uint32) (base unsafe.Pointer, class uint32, err error) {
	for class = s.blockOf(t, most); ; class-- {
		if !s.hasRun(orderOf(s.rowsAt(t, most, class))) {
			if class == t.first {
				return nil, 0, errSegments
			}
			continue
		}
		base, err = s.callAlloc(s.sizes[class])
		switch {
		case errors.Is(err, memory.ErrClosed): // and all blocks with it
			s.guard.onClosed()
		case s.guard.closed(): // closed from within Alloc
			if err == nil && base != nil {
				s.guard.leave(base, s.sizes[class])
			}
			err = memory.ErrClosed
		case err == nil && base != nil:
			return base, class, nil
		default:
			if err == nil {
				err = memory.ErrOutOfMemory
			}
			if class > t.first && (errors.Is(err, memory.ErrOutOfMemory) || errors.Is(err, memory.ErrTooLarge)) {
				continue
			}
		}
		return nil, 0, s.noChunk(class, err)
	}
}

// callAlloc calls the allocator while the world is locked: a callback of it that changed the
// world would do so in the middle of a change.
func (s *store) callAlloc(size uintptr) (unsafe.Pointer, error) {
	defer s.guard.endAlloc(s.guard.beginAlloc())
	return s.mem.Alloc(size, chunkAlign)
}

// beginAlloc reports whether no loop is under way. In the middle of a change that moves rows none is.
func (g *guard) beginAlloc() (idle bool) {
	g.locked++
	g.allocating = true
	return len(g.running) == 0
}

// endAlloc stops the loops that a callback of the allocator has begun and not ended: the change goes on, and may
// move their rows.
func (g *guard) endAlloc(idle bool) {
	g.locked--
	g.allocating = false
	if idle && len(g.running) != 0 {
		g.stopAll(nil)
	}
}

// attach appends a block of a class to the chunks of t, with so many rows. A run of segments is there for it.
func (s *store) attach(t *table, base unsafe.Pointer, class, rows uint32) {
	d := &s.directory
	order := orderOf(rows)
	number, ok := d.takeVacant(order)
	if !ok {
		d.extend(order, s.comps)
		number, _ = d.takeVacant(order)
	}
	run := d.chunks[number : number+1<<order]
	for i := range run {
		run[i] = chunk{base: base, table: uint32(t.index) + 1, pos: uint32(len(t.chunks)), class: class}
		if first := uint32(i) << rowBits; first < rows {
			run[i].base = unsafe.Pointer(entityAt(base, first))
		}
	}
	run[0].run = uint8(order) + 1
	d.live++
	d.bytes += uint64(d.sizes[class])
	t.chunks = append(t.chunks, tableChunk{number: number, first: uint32(t.capacity()), cap: rows})
	s.setColumns(t, number, base)
	d.layoutVersion++
}

// detach takes the last chunk from t, which holds no row, and lets go of its columns.
func (s *store) detach(t *table) (number uint32) {
	last := len(t.chunks) - 1
	number = t.chunks[last].number
	t.chunks = t.chunks[:last]
	clear(t.held[last*len(t.heap):])
	t.held = t.held[:last*len(t.heap)]
	if last == 0 {
		s.setTail(t, 0, 0)
	}
	if t.spareLink.number == number {
		s.unlistSpare(t)
	}
	for i := number; i < number+s.length(number); i++ {
		clear(s.row(i))
		s.setAddresses(t, i)
		s.chunks[i].table = 0
	}
	s.layoutVersion++
	return number
}

// recycle frees the segments of a detached chunk and returns its block.
func (d *directory) recycle(number uint32) (base unsafe.Pointer, class uint32) {
	c := d.chunks[number]
	base, class = c.base, c.class
	clear(d.chunks[number : number+d.length(number)])
	d.giveRun(number, int(c.run)-1)
	d.live--
	d.bytes -= uint64(d.sizes[class])
	return base, class
}

// freePending frees the blocks that wait. Every operation ends with it, when its books are right:
// whatever the allocator does, a panic included, the operation is complete.
func (s *store) freePending() {
	if s.pending != 0 {
		s.freeAllPending()
	}
}

// freeAllPending offers every block that waits to the allocator once.
//
//go:noinline
func (s *store) freeAllPending() {
	defer s.guard.endAlloc(s.guard.beginAlloc())
	for s.pending != 0 {
		number := s.pending - 1
		s.pending = s.chunks[number].pos
		base, class := s.recycle(number)
		if s.mem.Free(base, s.sizes[class]); s.pending == 0 {
			s.boundSpares() // there are fewer blocks to keep a share of
		}
	}
}

// setColumns points the columns of a new chunk at its block, and makes the pointerful ones.
func (d *directory) setColumns(t *table, number uint32, base unsafe.Pointer) {
	rows := t.chunks[d.chunks[number].pos].cap
	n := uintptr(rows)
	end := n * entityBytes
	for i := range t.columns {
		k := &t.columns[i]
		var off uintptr
		off, end = k.place(end, n)
		d.setColumn(number, rows, k, address(uintptr(base)+off))
	}
	for i := range t.heap {
		k := &t.heap[i]
		p := k.comp.makeColumn(int(n))
		t.held = append(t.held, p)
		d.setColumn(number, rows, k, address(uintptr(p)))
	}
	for i := number; i < number+d.length(number); i++ {
		d.setAddresses(t, i)
	}
}

// setColumn says where a column lies in each segment of a chunk.
func (d *directory) setColumn(number, rows uint32, k *column, at address) {
	for first := uint32(0); first < rows; first += rowCount {
		d.columns[uint(number)*d.width+uint(k.comp.id)] = at
		number++
		at += address(uintptr(k.size) << rowBits)
	}
}

// length returns the number of segments of a run.
func (s *segments) length(first uint32) uint32 { return 1 << (s.chunks[first].run - 1) }

// setAddresses has the lanes say what the columns of a segment of t are.
func (d *directory) setAddresses(t *table, segment uint32) {
	if d.draft {
		return
	}
	columns := d.row(segment)
	for i := range t.columns {
		c := t.columns[i].comp
		c.addresses[segment] = columns[c.id]
	}
	for i := range t.heap {
		c := t.heap[i].comp
		c.addresses[segment] = columns[c.id]
	}
}

// rebuildAddresses makes the lanes of all components anew, as the chunks are others now.
func (s *store) rebuildAddresses() {
	s.layoutVersion++
	for id, c := range s.comps {
		c.addresses = make([]address, len(s.chunks))
		for number := range c.addresses {
			c.addresses[number] = s.columns[uint(number)*s.width+uint(id)]
		}
	}
}

// row returns the column addresses of one segment.
func (d *directory) row(number uint32) []address {
	at := uint(number) * d.width
	return d.columns[at : at+d.width]
}

// widen makes room for n component types. It copies the addresses of all chunks, which is
// why it doubles: five times at most in the life of a world.
func (d *directory) widen(n int) {
	width := d.width
	for width < uint(n) {
		width *= 2
	}
	if width == d.width {
		return
	}
	columns := make([]address, uint(len(d.chunks))*width)
	for i := range d.chunks {
		copy(columns[uint(i)*width:], d.row(uint32(i)))
	}
	d.columns, d.width = columns, width
}
