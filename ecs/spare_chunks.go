package ecs

import (
	"errors"
	"slices"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A table keeps one chunk without rows, so that an entity coming and going costs no call of
// the allocator. It keeps it only as long as nobody needs it more: where the allocator says
// that it is out of memory, a table that must grow takes the spare of another one.

// addChunk appends an empty chunk to t, or changes nothing.
func (w *World) addChunk(t *table) error {
	due := w.dueClass(t, len(t.chunks))
	base, class, err := w.allocBlock(t, due)
	if err != nil {
		if base, class = w.takeSpare(t, due, err); base == nil {
			return err
		}
	}
	w.attach(t, base, class, w.rowsAt(t, due, class))
	return nil
}

// addChunks appends empty chunks to t until it has room for n rows more, or changes nothing.
// Spares are taken only where they suffice.
func (w *World) addChunks(t *table, n int) error {
	had, want := len(t.chunks), t.rows()+n
	defer func() {
		if t.capacity() < want { // also when the allocator panics
			w.dropChunks(t, had)
			w.freePending()
		}
	}()
	for t.capacity() < want {
		due := w.batchClass(t, want-t.capacity())
		base, class, err := w.allocBlock(t, due)
		if err != nil {
			due = t.last // a spare is used whole
			if w.spareRows(t) < want-t.capacity() {
				return err
			}
			if base, class = w.takeSpare(t, due, err); base == nil {
				return err
			}
		}
		w.attach(t, base, class, w.rowsAt(t, due, class))
	}
	return nil
}

// spares returns the number of chunks without rows: 0 or 1 between operations.
func (t *table) spares() int { return len(t.chunks) - t.used() }

// spareRows returns how many rows of t the spares of other tables have room for.
func (w *World) spareRows(t *table) (rows int) {
	for _, other := range w.tables {
		if other != t && w.spareFits(t, t.last, other) {
			rows += int(w.rowsAt(t, t.last, w.spareClass(other)))
		}
	}
	return rows
}

// trimSpares gives back the room that was made in t and not used, but for one spare.
func (w *World) trimSpares(t *table) {
	if w.locked < closedMark {
		w.dropChunks(t, min(len(t.chunks), t.used()+1))
		w.listSpare(t)
		w.freePending()
	}
}

// spareClass returns the class of the spare of t.
func (w *World) spareClass(t *table) uint32 {
	return w.chunks[t.chunks[len(t.chunks)-1].number].class
}

// spareFits reports whether other has a spare for a chunk of t of a class, and whether there are segments for it.
func (w *World) spareFits(t *table, class uint32, other *table) bool {
	if other.spares() == 0 {
		return false
	}
	spare := &w.chunks[other.chunks[len(other.chunks)-1].number]
	rows := w.rowsAt(t, class, spare.class)
	return rows > 0 && (orderOf(rows) < int(spare.run) || w.hasRun(orderOf(rows)))
}

// takeSpare returns the block of a spare of any table but t, in order of creation, that a row of t
// fits; nil when there is none, or when err is neither about memory nor about segments.
func (w *World) takeSpare(t *table, due uint32, err error) (base unsafe.Pointer, class uint32) {
	if err != errSegments && !errors.Is(err, memory.ErrOutOfMemory) {
		return nil, 0
	}
	for _, other := range w.tables {
		if other != t && w.spareFits(t, due, other) {
			return w.recycle(w.detach(other))
		}
	}
	return nil, 0
}

// Shrink gives back what the world keeps for the next entity and could do without: every
// chunk without rows, the buffers of commands when none wait, and the chunk numbers past the
// last one in use. It returns the bytes of chunks that went back to the allocator, which
// still may have to be trimmed itself.
//
// The archetypes stay, some 700 bytes each, because filters and mappers know them; so does
// the index, 8 bytes for every slot that was ever used, because it holds the generations.
//
// Nothing that can be seen changes: not an address, not [World.Hash], not an Entity. Cost: a
// look at every archetype, a free per spare, and a copy of 64 bytes or more per chunk in
// use; the next entity of an archetype without rows asks the allocator again. Call it where
// a level ends, or when memory runs short; it panics with a [*memory.Misuse] while the world
// is locked.
func (w *World) Shrink() (freed uint64) {
	w.mutable("Shrink")
	held := w.bytes
	for _, t := range w.tables {
		w.dropChunks(t, t.used())
	}
	w.freePending()
	w.tree = nil
	freed = held - w.bytes
	w.trimSegments()
	if w.commands != nil {
		w.commands.trim()
	}
	return freed
}

// trimSegments forgets the free segments behind the last one taken, and the room for more of
// them where it is over half.
func (w *World) trimSegments() {
	d := &w.directory
	n := len(d.chunks)
	for n > 0 && d.chunks[n-1].base == nil {
		n--
	}
	if 2*n > cap(d.chunks) {
		return
	}
	d.trim(n)
	d.columns = slices.Clone(d.columns[:uint(n)*d.width])
	w.rebuildAddresses()
}
