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
func (s *store) addChunk(t *table) error {
	due := s.dueClass(t, len(t.chunks))
	base, class, err := s.allocBlock(t, due)
	if err != nil {
		if base, class = s.takeSpare(t, due, err); base == nil {
			return err
		}
	}
	s.attach(t, base, class, s.rowsAt(t, due, class))
	return nil
}

// addChunks appends empty chunks to t until it has room for n rows more, or changes nothing.
// Spares are taken only where they suffice.
func (s *store) addChunks(t *table, n int) error {
	had, want := len(t.chunks), t.rows()+n
	defer func() {
		if t.capacity() < want { // also when the allocator panics
			s.dropChunks(t, had)
			s.freePending()
		}
	}()
	for t.capacity() < want {
		due := s.batchClass(t, want-t.capacity())
		base, class, err := s.allocBlock(t, due)
		if err != nil {
			due = t.last // a spare is used whole
			if s.spareRows(t) < want-t.capacity() {
				return err
			}
			if base, class = s.takeSpare(t, due, err); base == nil {
				return err
			}
		}
		s.attach(t, base, class, s.rowsAt(t, due, class))
	}
	return nil
}

// spares returns the number of chunks without rows: 0 or 1 between operations.
func (t *table) spares() int { return len(t.chunks) - t.used() }

// spareRows returns how many rows of t the spares of other tables have room for.
func (s *store) spareRows(t *table) (rows int) {
	for _, other := range s.tables {
		if other != t && s.spareFits(t, t.last, other) {
			rows += int(s.rowsAt(t, t.last, s.spareClass(other)))
		}
	}
	return rows
}

// trimSpares gives back the room that was made in t and not used, but for one spare.
func (s *store) trimSpares(t *table) {
	if !s.guard.closed() {
		s.dropChunks(t, min(len(t.chunks), t.used()+1))
		s.listSpare(t)
		s.freePending()
	}
}

// spareClass returns the class of the spare of t.
func (d *directory) spareClass(t *table) uint32 {
	return d.chunks[t.chunks[len(t.chunks)-1].number].class
}

// spareFits reports whether other has a spare for a chunk of t of a class, and whether there are segments for it.
func (s *store) spareFits(t *table, class uint32, other *table) bool {
	if other.spares() == 0 {
		return false
	}
	spare := &s.chunks[other.chunks[len(other.chunks)-1].number]
	rows := s.rowsAt(t, class, spare.class)
	return rows > 0 && (orderOf(rows) < int(spare.run) || s.hasRun(orderOf(rows)))
}

// takeSpare returns the block of a spare of any table but t, in order of creation, that a row of t
// fits; nil when there is none, or when err is neither about memory nor about segments.
func (s *store) takeSpare(t *table, due uint32, err error) (base unsafe.Pointer, class uint32) {
	if err != errSegments && !errors.Is(err, memory.ErrOutOfMemory) {
		return nil, 0
	}
	for _, other := range s.tables {
		if other != t && s.spareFits(t, due, other) {
			return s.recycle(s.detach(other))
		}
	}
	return nil, 0
}

// Shrink frees memory that the world keeps for later entities: all chunks without rows, the list of entities of
// [Relation.RemoveTree], and the filters of [Relation.Each]. It also frees the chunk numbers (see [ErrLimit]) above the
// highest one in use, if these are at least half of all. If no commands wait, it also frees the buffers of
// World.Commands. Shrink returns the bytes of the freed chunks, without columns in the Go heap. The allocator may keep
// them until it is trimmed.
//
// Archetypes stay, some 700 bytes each, because filters and mappers refer to them. The entity index stays, 8 bytes per
// slot ever used, because it has the generations. Addresses, [World.Hash] and entities do not change.
//
// Cost: a visit to each archetype, and a free per spare chunk. If chunk numbers or space for them is freed, Shrink also
// copies at least 64 bytes per chunk in use. After Shrink the next entity of an empty archetype allocates a chunk. Call
// Shrink at the end of a level or when memory runs short. Shrink panics with a [*memory.Misuse] if the world is locked.
func (w *World) Shrink() (freed uint64) {
	w.guard.mutable("Shrink")
	held := w.store.bytes
	for _, t := range w.store.tables {
		w.store.dropChunks(t, t.used())
	}
	w.store.freePending()
	w.tree, w.eachFilters = nil, nil
	freed = held - w.store.bytes
	w.store.trimSegments()
	if w.commands != nil {
		w.commands.trim()
	}
	return freed
}

// trimSegments forgets the free segments behind the last one taken if they are at least half of all, and the capacity
// for more of them if that is. Loading a state keeps the capacity, so it must not decide which numbers later chunks
// get.
func (s *store) trimSegments() {
	d := &s.directory
	n := len(d.chunks)
	for n > 0 && d.chunks[n-1].base == nil {
		n--
	}
	switch {
	case 2*n <= len(d.chunks):
		d.trim(n)
	case 2*n <= cap(d.chunks):
		d.chunks = append(make([]chunk, 0, len(d.chunks)), d.chunks...)
	default:
		return
	}
	d.columns = slices.Clone(d.columns[:uint(len(d.chunks))*d.width])
	s.rebuildAddresses()
}
