package ecs

import "unsafe"

// A narrowing has the methods that narrow a filter and return it. Filter begins with its narrowing. As that depends on
// Filter, no filter converts to one of other components. It depends on the pointer, as the compiler generates one body
// of a method for all pointers, but one for each Filter that is a struct. The filter is a field with a name, because
// for an embedded one the compiler would generate its methods again for each type of each Filter.
type narrowing[Filter any] struct{ filter filter }

// whole returns f as the pointer to the Filter that begins with it.
func (f *narrowing[Filter]) whole() Filter { return *(*Filter)(unsafe.Pointer(&f)) }

// Clone returns a new filter that matches the same entities and has the same Writes. Configuring one of the two filters
// does not affect the other. Cost: one Go allocation. When the clone is used first, it visits each archetype and
// allocates, as a new filter does. Clone panics with a [*memory.Misuse] in a parallel run.
func (f *narrowing[Filter]) Clone() Filter {
	c := f.filter.clone()
	return *(*Filter)(unsafe.Pointer(&c))
}

// With narrows the filter to entities that also have these components, in addition to earlier calls. It changes f and
// returns it. It panics with a [*memory.Misuse] if the world does not have an ID, or if an ID is passed twice. It also
// panics while a query over f is open, and in a parallel run.
func (f *narrowing[Filter]) With(ids ...ID) Filter {
	f.filter.restrict("With", ids, false)
	return f.whole()
}

// Without narrows the filter to entities that have none of these components, in addition to earlier calls. It changes f
// and returns it. It panics with a [*memory.Misuse] if the world does not have an ID, or if an ID is passed twice. It
// also panics while a query over f is open, and in a parallel run.
func (f *narrowing[Filter]) Without(ids ...ID) Filter {
	f.filter.restrict("Without", ids, true)
	return f.whole()
}

// To narrows the filter to entities whose relation with this ID has this target. The target replaces an earlier target
// of the relation. It stays until ToAny, or until the next To with this ID. If the target is stale, the filter matches
// nothing. To changes f and returns it, and is cheap enough to call for each of many targets. To loop over two targets
// at the same time, use a [Filter1.Clone]. To walk through a tree, use [Relation.Each].
//
// To panics with a [*memory.Misuse] if the ID is not a relation of the world, or if f has targets of four other
// relations. It also panics while a query over f is open, in a parallel run, and in a closed world.
func (f *narrowing[Filter]) To(id ID, target Entity) Filter {
	f.filter.narrowTo(id, target)
	return f.whole()
}

// ToAny undoes all calls of To. After ToAny the filter still requires the relations, with any target, also a stale one.
// ToAny changes f and returns it. It panics with a [*memory.Misuse] while a query over f is open, in a parallel run,
// and in a closed world.
func (f *narrowing[Filter]) ToAny() Filter {
	f.filter.widenToAny()
	return f.whole()
}

// Writes declares that all later loops over the filter write these components. When a loop or a query reaches a chunk,
// it records a write of all entities in the chunk, even if nothing is written. A parallel run does so for each batch.
// With ChangedSince only the changed entities count. A further Writes adds to earlier ones. Only components that are
// tracked with [World.Track] are recorded. Other components cost one check per chunk. Writes changes f and returns it.
//
// Writes panics with a [*memory.Misuse] if the world does not have an ID, or if an ID is passed twice. It also panics
// while a query over f is open, in a parallel run, and in a closed world.
func (f *narrowing[Filter]) Writes(ids ...ID) Filter {
	f.filter.addWrites(ids)
	return f.whole()
}

// ChangedSince narrows the filter to entities with at least one of these components that was written after
// t. It replaces an earlier ChangedSince and is cheap enough to call each frame. If t is the zero Tick, all
// entities match that have at least one of the components. A loop in progress also reaches entities that are
// written before the loop comes to them. ChangedSince changes f and returns it.
//
// With ChangedSince, Chunks, Columns and Parallel yield parts of chunks: unbroken runs of changed entities. All and
// Query visit the changed entities one by one. A loop reads 4 bytes per entity and named component. World.RemoveAll and
// other batch operations panic with a [*memory.Misuse] for a filter with ChangedSince.
//
// ChangedSince panics with a [*memory.Misuse] unless ids are one to eight different components that
// [World.Track] was called for. It also panics while a query over f is open, in a parallel run, and in a
// closed world.
func (f *narrowing[Filter]) ChangedSince(t Tick, ids ...ID) Filter {
	f.filter.changedSince(t, ids)
	return f.whole()
}

// Exclusive narrows the filter to entities that have exactly the components that the filter requires. These are the
// components that the filter was created with, and those of With and To, also of later calls. Exclusive changes f and
// returns it. It panics with a [*memory.Misuse] while a query over f is open, and in a parallel run.
func (f *narrowing[Filter]) Exclusive() Filter {
	f.filter.narrow("Exclusive")
	f.filter.exact = true
	return f.whole()
}

func (f *narrowing[Filter]) selection() *filter { return &f.filter }

// Len returns the number of entities that match now. It panics with a [*memory.Misuse] in a parallel run.
// Cost: a visit to each matching archetype. With ChangedSince, Len also reads the ticks of the entities.
func (f *narrowing[Filter]) Len() int { return f.filter.len() }

// EntityAt returns entity i in the order of All, counted from 0. Use it for example to choose a random entity. EntityAt
// panics with a [*memory.Misuse] if i is not from 0 to Len() - 1, and in a parallel run. Cost: a visit to each matching
// archetype and a binary search among the chunks of one archetype. With ChangedSince, EntityAt costs as much as Len.
func (f *narrowing[Filter]) EntityAt(i int) Entity { return f.filter.entityAt(i) }

// Check verifies the filter and returns an error that lists up to 32 broken invariants and the number of further
// ones, or nil. World.Check does not include filters.
func (f *narrowing[Filter]) Check() error { return f.filter.check() }

// Batches returns the number of batches into which Parallel would divide the matching entities now. Each
// archetype has one batch per 1024 entities and one for the rest. ChangedSince does not lower the number: unchanged
// entities count, too. In a parallel run Batches panics with a [*memory.Misuse].
func (f *narrowing[Filter]) Batches() int { return f.filter.batches() }
