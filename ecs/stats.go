package ecs

import "slices"

// Stats is a snapshot of a world's statistics. BytesUsed and BytesCapacity count memory of the allocator.
// PointerfulBytes counts memory of the Go heap. None of them includes the entity index.
//
// These relations hold:
//
//	Entities <= PeakEntities <= Config.MaxEntities
//	BytesUsed <= BytesCapacity
//	Chunks * Config.FirstChunkBytes <= BytesCapacity
type Stats struct {
	Entities        int    // entities alive
	PeakEntities    int    // the peak (high-water mark) of Entities; loading from memory restores the saved peak
	RetiredSlots    int    // slots whose generations are exhausted; each lowers the limit of entities by one
	Components      int    // component types, and one more for each tracked type
	Archetypes      int    // at least 1, also those without entities; each combination of targets counts as one
	Chunks          int    // blocks from the allocator
	SpareChunks     int    // chunks without rows, kept for later entities
	ChunkBytes      int    // Config.ChunkBytes
	BytesUsed       uint64 // the Entity, pointer-free components and ticks of all entities
	BytesCapacity   uint64 // size of all blocks from the allocator
	PointerfulBytes uint64 // capacity of columns in the Go heap, of types with pointers
	PendingCommands int    // commands of World.Commands that wait for Apply
}

// Stats returns the statistics. It iterates over all archetypes and allocates nothing.
func (w *World) Stats() Stats {
	s := Stats{
		Entities:      int(w.store.index.live),
		PeakEntities:  int(w.store.index.peakNow()),
		RetiredSlots:  int(w.store.index.max - w.store.index.usable),
		Components:    len(w.store.comps),
		Archetypes:    len(w.store.tables),
		Chunks:        w.store.live,
		ChunkBytes:    w.store.cfg.ChunkBytes,
		BytesCapacity: w.store.bytes,
	}
	if w.commands != nil {
		s.PendingCommands = w.commands.Len()
	}
	for _, t := range w.store.tables {
		s.SpareChunks += len(t.chunks) - t.used()
		s.BytesUsed += uint64(t.rows()) * uint64(t.rowBytes)
		for i := range t.heap {
			s.PointerfulBytes += uint64(t.capacity()) * uint64(t.heap[i].size)
		}
	}
	return s
}

// ColumnStats are the statistics of one component type over all archetypes. If [World.Track] was called for the type,
// the ticks of its writes have ColumnStats of their own.
type ColumnStats struct {
	Name       string // "ticks of X" for the ticks of type X
	ID         ID     // for methods of World; they panic, or return nil or false, for the ID of ticks
	Pointerful bool   // the type has Go pointers, so its columns are in the Go heap
	Size       int    // bytes per entity
	Entities   int    // entities that have the component
	Archetypes int    // archetypes that have the component, also those without entities
	BytesUsed  uint64 // Entities * Size
	// BytesCapacity is the space for this component in all chunks, in bytes.
	BytesCapacity uint64
}

// Column returns the statistics of the component type with ID i, from 0 to Stats().Components - 1. If a type is
// tracked, its ticks have an ID of their own: the next free one when [World.Track] is called. Column panics if i is out
// of range. It visits all archetypes and allocates nothing.
func (w *World) Column(i int) ColumnStats {
	c := w.store.comps[i]
	s := ColumnStats{Name: c.name, ID: c.id, Pointerful: c.pointerful, Size: int(c.size)}
	owner := c
	if c.owner != nil {
		owner = c.owner
	}
	for _, t := range w.store.tables {
		if !t.mask.has(owner.id) {
			continue
		}
		s.Archetypes++
		s.Entities += t.rows()
		s.BytesUsed += uint64(t.rows()) * uint64(c.size)
		s.BytesCapacity += uint64(t.capacity()) * uint64(c.size)
	}
	return s
}

// ArchetypeStats are the statistics of one archetype.
type ArchetypeStats struct {
	mask      mask
	targets   targets
	relations []ID
	Entities  int
	Chunks    int
	Capacity  int // entities that fit into the chunks
	RowBytes  int // bytes per entity in the chunks: the Entity, pointer-free components and ticks
}

// Has reports whether the archetype has the component. For the ID of ticks Has returns false: see [ColumnStats].
func (s ArchetypeStats) Has(id ID) bool { return s.mask.has(id) }

// Target returns the target that the archetype's entities have for a relation. The target may be stale. Target returns
// false if the archetype does not have the relation, or if the archetype waits to be reused for another target. If
// Target returns false, the Entity has no meaning.
func (s ArchetypeStats) Target(id ID) (Entity, bool) {
	i := slices.Index(s.relations, id)
	return s.targets[max(i, 0)], i >= 0 && s.targets[i] != Entity{}
}

// Archetype returns the statistics of archetype i, from 0 to Stats().Archetypes - 1, in order of
// creation. It panics if i is out of range. It allocates nothing.
func (w *World) Archetype(i int) ArchetypeStats {
	t := w.store.tables[i]
	var relations []ID
	if t.variants != nil {
		relations = t.variants.relations
	}
	return ArchetypeStats{
		mask: t.mask, targets: t.targets, relations: relations, Entities: t.rows(), Chunks: len(t.chunks),
		Capacity: t.capacity(), RowBytes: int(t.rowBytes),
	}
}
