package ecs

import "unsafe"

// A narrowing has the methods that narrow a filter and return it. Filter begins with its narrowing. As that depends on Filter, no
// filter converts to one of other components.
type narrowing[Filter any] struct{ filter }

func (f *narrowing[Filter]) whole() *Filter { return (*Filter)(unsafe.Pointer(f)) }

// With narrows the filter to entities that also have these components, in addition to earlier calls. It
// returns f. It panics with a [*memory.Misuse] if the world does not have an ID, if one is passed twice,
// or while a query over f is open.
func (f *narrowing[Filter]) With(ids ...ID) *Filter {
	f.restrict("With", ids, false)
	return f.whole()
}

// Without narrows the filter to entities that have none of these components, in addition to earlier
// calls. It returns f. It panics with a [*memory.Misuse] if the world does not have an ID, if one is
// passed twice, or while a query over f is open.
func (f *narrowing[Filter]) Without(ids ...ID) *Filter {
	f.restrict("Without", ids, true)
	return f.whole()
}

// To narrows the filter to entities whose relation with this ID has this target. It replaces an
// earlier target of the relation and is cheap enough to call for each of many targets. If the target
// is stale, the filter matches nothing. To returns f.
//
// It panics with a [*memory.Misuse] if the ID is not a relation, for a fifth relation, while a query
// over f is open, and in a closed world.
func (f *narrowing[Filter]) To(id ID, target Entity) *Filter {
	f.narrowTo(id, target)
	return f.whole()
}

// ToAny undoes the targets of all calls of To. The filter then matches entities with these relations to
// any target, also a stale one. It returns f. It panics with a [*memory.Misuse] while a query over f is
// open, and in a closed world.
func (f *narrowing[Filter]) ToAny() *Filter {
	f.widenToAny()
	return f.whole()
}

// Writes declares that loops over the filter write these components, from now on. All, Chunks, Query
// and Parallel then record a write for all entities of a chunk, or of a run of changed ones, when
// they reach it. They do so even if the loop writes nothing. Only components that are tracked with
// [World.Track] are recorded. Others cost one check per chunk. It returns f.
//
// It panics with a [*memory.Misuse] if the world does not have an ID, if one is passed twice, while a
// query over f is open, and in a closed world.
func (f *narrowing[Filter]) Writes(ids ...ID) *Filter {
	f.addWrites(ids)
	return f.whole()
}

// ChangedSince narrows the filter to entities of which at least one of these components was written
// after t. It replaces an earlier ChangedSince and is cheap enough to call each frame. An entity that has
// none of the components does not match. With the zero Tick all entities match that have one. A loop in
// progress also reaches entities that are written after it began, if it has not passed them. It returns f.
//
// Chunks, Columns and Parallel then yield parts of chunks: unbroken runs of changed entities. All
// and Query visit the same entities. The loop reads 4 bytes per entity and named component.
// World.RemoveAll and other batch operations panic with a [*memory.Misuse] for such a filter.
//
// It panics with a [*memory.Misuse] unless ids are one to eight different components that [World.Track]
// was called for, while a query over f is open, and in a closed world.
func (f *narrowing[Filter]) ChangedSince(t Tick, ids ...ID) *Filter {
	f.changedSince(t, ids)
	return f.whole()
}

// Exclusive narrows the filter to entities that have no components except those of the filter, of With
// and of To. It returns f. It panics with a [*memory.Misuse] while a query over f is open.
func (f *narrowing[Filter]) Exclusive() *Filter {
	f.narrow("Exclusive")
	f.exact = true
	return f.whole()
}
