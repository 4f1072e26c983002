package ecs

import "slices"

// Stats is a snapshot of a world's books. Bytes of pointer-free columns come from the
// allocator; PointerfulBytes come from the Go heap.
//
// These equations hold:
//
//	Entities <= PeakEntities <= Config.MaxEntities
//	BytesUsed <= BytesCapacity
//	Chunks * Config.FirstChunkBytes <= BytesCapacity
type Stats struct {
	Entities        int
	PeakEntities    int
	RetiredSlots    int // slots whose generations are worn out
	Components      int // component types, and one more for each that is tracked
	Archetypes      int // with relations one for each combination of targets
	Chunks          int
	SpareChunks     int    // chunks without rows, kept for the next entity
	ChunkBytes      int    // of Config
	BytesUsed       uint64 // pointer-free cells of living entities, the Entity itself included
	BytesCapacity   uint64 // blocks held from the allocator
	PointerfulBytes uint64 // capacity of the pointerful columns in the Go heap
	PendingCommands int
}

// Stats returns the books. It costs a walk over the archetypes and allocates nothing.
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

// ColumnStats says what one component type takes, over all archetypes, or what the ticks of one take,
// which World.Track has kept.
type ColumnStats struct {
	Name       string // where it is the ticks of X, just that
	ID         ID     // of no use where it is ticks
	Pointerful bool   // lives in the Go heap, where the collector scans it
	Size       int    // bytes per entity
	Entities   int    // that have it
	Archetypes int    // that have it
	BytesUsed  uint64 // Entities * Size
	// BytesCapacity is the room for this component in all chunks held.
	BytesCapacity uint64
}

// Column returns the figures of component type i, from 0 to Stats().Components - 1, in
// order of registration, those of its ticks where Track was called. It allocates nothing.
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

// ArchetypeStats says what one archetype takes.
type ArchetypeStats struct {
	mask      mask
	targets   targets
	relations []ID
	Entities  int
	Chunks    int
	Capacity  int // entities that the chunks have room for
	RowBytes  int // pointer-free bytes per entity, the Entity itself included
}

// Has reports whether the archetype has the component.
func (s ArchetypeStats) Has(id ID) bool { return s.mask.has(id) }

// Target returns what the entities of the archetype relate to, stale or not; false where the
// archetype does not have the relation, or waits to be used for another target.
func (s ArchetypeStats) Target(id ID) (Entity, bool) {
	i := slices.Index(s.relations, id)
	return s.targets[max(i, 0)], i >= 0 && s.targets[i] != Entity{}
}

// Archetype returns the figures of archetype i, from 0 to Stats().Archetypes - 1, in order
// of creation. It allocates nothing.
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
