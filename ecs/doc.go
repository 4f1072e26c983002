// Package ecs stores entities and their pointer-free components in columns outside of the Go heap.
//
// # The idea
//
// Entities with the same set of component types form an archetype. Its rows are stored column by
// column in chunks of growing size from any memory.Allocator. So systems iterate over dense arrays,
// and the collector does not scan them. An [Entity] is 8 bytes with a generation. It becomes stale when
// the entity is removed, and look-ups of a stale Entity return false.
//
// Where to look:
//   - [New] and [World]; [Register] and [Component] for one type;
//   - [Map2] and the other mappers to create and change entities by several types;
//   - [Filter2], its All and Chunks, and [Query2] to iterate; Parallel and [Workers] for several goroutines;
//   - [Commands] for changes during iteration; [Relation] for entities that refer to others, and Each to walk a tree;
//   - [Observer] for callbacks on changes; [Events] and [SetResource] between systems;
//   - [World.Track], [World.Tick] and ChangedSince of filters to find what was written since;
//   - [World.RegisterSize], [World.Ptr] and [NewFilterOf] for types that are known at run time;
//   - [World.WriteBinary] and [World.ReadBinary] to save, [World.WriteJSON] and [World.ReadJSON] as text;
//   - [World.Stats], [World.Hash] and [World.Check] to inspect.
//
// # For users of Ark
//
//	ecs.NewWorld(n)                   New, with an allocator; the world has a Close and a Config.MaxEntities
//	NewMap2, NewEntity(&a, &b)        NewMap2, NewEntity(a, b), which returns an error if memory is out
//	NewEntityFn(f)                    NewEntity with the values
//	Map2.New(w), Filter2.New(w)       NewMap2(w), NewFilter2(w)
//	Map1.Add(e, &a)                   Add(e, a), which returns an error
//	NewBatchFn, NewBatch(n, &a, &b)   NewBatch(n, fill); NewColumns if the entities are needed
//	Map.Get                           Component.Get, which reports whether there is one
//	Filter2.Register                  not needed: all filters cache their matches
//	Query, Next, Get                  All, a range loop, is faster and does not lock; Query locks the world
//	NextTable, GetColumns             Chunks
//	Query.Count, Query.EntityAt       Len and EntityAt of the filter; the order of rows differs from Ark's
//	Filter2.Batch                     the filter itself, as in World.RemoveAll and AddAll of a mapper
//	AddBatchFn, RemoveEntities(b, f)  AddAll and then a loop over the filter; a loop and then RemoveAll
//	Exchange2                         Removes and Exchange of a mapper
//	Rel, RelIdx, of a call            To of a mapper or filter, which lasts until the next To or ToAny;
//	                                  Each of a Relation
//	SetRelations, SetRelationsBatch   Relation.SetTarget, Relation.SetTargetAll
//	GetRelation                       Relation.Target, which returns false for a removed target
//	Observe(OnCreateEntity), ...      World.OnCreate and OnRemove; with For(C), OnAdd and OnRemove of C
//	OnAddComponents, OnSetComponents  Component.OnAdd, OnRemove and OnSet, of one component each
//	OnAddRelations, OnRemoveRelations those of the Relation; its OnSet reports another target
//	EventRegistry, Emit               Events: queues without callbacks
//	AddResource, GetResource          SetResource, Resource; not by reflect.Type
//	World.Reset                       Reset, which keeps resources
//	ComponentID, Unsafe               World.RegisterSize, World.AddID, NewFilterOf
//	Unsafe.IDs(e)                     World.HasID for each of World.IDs
//	a removed entity                  false or ErrStale instead of a panic
//
// A Filter or Component belongs to one world, so loops look nothing up by type.
//
// # Layout
//
//	Entity ──slot──► record {generation, chunk and row}     8 bytes, in one reservation
//
//	one chunk of an archetype {Position, Velocity}, cap rows:
//
//	base                                                                         base+size
//	  | Entity × cap | Position × cap | Velocity × cap | unused: less than a row and padding |
//	  ^ 64-aligned   ^ 16-aligned     ^ 16-aligned
//
//	a table:  | full | full | … | tail: rows come and go at its end | at most one spare |
//	          1 KiB, 4 KiB, 4 × 16 KiB, 4 × 64 KiB, 4 × 256 KiB, 4 × 1 MiB, then 4 MiB each, see Config
//
// A table is the list of an archetype's chunks. A few entities take 1 KiB, and an iteration over a million enters new
// columns some twenty times. If many entities are created at once, the world takes a larger block earlier. The entities
// must fill at least half of this block, or a third if it has at most four times Config.ChunkBytes. A thousand entities
// of one batch are in one chunk if a row has at most 64 bytes, and iterate as fast as a slice. With rows of 17 to 21
// bytes, however, they are in two. Created one by one they are in several chunks, whose edges cost a few per cent.
//
// Growing copies nothing: chunks stay where they are until they are empty. If the allocator does not
// have a block of the intended size, the world takes a smaller one. This affects neither the order
// nor [World.Hash].
//
// Rows are dense: the table's last row replaces a removed one. Types with Go pointers have columns of
// the same shape in the Go heap, one slice per chunk. A vacated row is zeroed there, so the collector
// can free what the row referred to.
//
// A table keeps one chunk without rows, a spare, for entities that come and go at the edge of a chunk. If
// the allocator is out of memory, another table takes the spare. The four tables that got a spare last keep
// it. Older spares are freed if all spares, with their columns in the Go heap, take more than 64 KiB and
// more than a sixteenth of all chunks. [World.Shrink] frees all spares.
//
// Chunks contain only rows. The entity index is in separate pages, Config.Pages, and grows without a
// copy. Archetypes and column addresses are in the Go heap, with one pointer per chunk, or per 2048 rows of
// a larger one. So a garbage collection scans almost nothing, whatever the number of entities.
//
// The address of a component is valid until its entity gains or loses a component or changes a target, or until any
// entity leaves the archetype. After a load of a state, or after the world or its allocator is closed, no address is
// valid. Creating entities never moves a row.
//
// # Relations
//
// A component of type ChildOf, Likes or DockedAt can have a target, an entity: see [RegisterRelation].
// Entities of the same components then have one table per target, and a loop over the children of e
// visits only their rows:
//
//	archetype {Position, ChildOf}    ChildOf → a:  | rows … |      4 × 1 KiB, 8 × 4 KiB, 4 × 16 KiB …
//	                                 ChildOf → b:  | rows … |
//	index: (ChildOf, a) → tables     in the order in which they got the target
//
// Changing the target of an entity moves its row. If a target is removed, the rows that refer to it stay:
// their target is stale, as [Relation] describes. An Entity in a field is better if no loop needs the
// entities of one target, if nearly every entity has its own target, or if targets change every tick.
//
// # Hot and cold components
//
// Rarely used components need no special treatment: each has its own column, and a loop reads only the
// columns of its filter. Split a component into two if it has hot and cold fields. See the row "walk
// 100000 beside 256 cold bytes" of ecs/bench. Creation, removal and moves copy all columns of a row.
//
// # What changed since
//
// A component that [World.Track] names has a second column with the [Tick] of the last write of each row.
// [World.Tick] ends one tick and starts the next. ChangedSince of a filter yields exactly the entities that
// were written after a tick. Operations such as Set record the Tick of their writes. Loops and parallel runs
// that write through pointers need Writes of their filter, which records a write of every row that they reach.
// After a write through a pointer to a single entity call [Component.Touch].
//
//	one chunk of {Position, Velocity}, Position tracked:
//
//	  | Entity × cap | Position × cap | Tick × cap | Velocity × cap | … |
//
// An [Observer] is called at once, for each write by a method. A Tick costs one store per write and is read
// later, for example to send or draw the changes once a frame.
//
// # When to use it
//
// Use it for many objects of few shapes that systems visit every tick. For a few hundred objects with
// much behavior each, structs and a pool are simpler. State that comes and goes every tick is better as
// a field than as a component. The collector does not scan pointer-free Go slices either; chunks add
// growth without copies, stable addresses and exact release.
//
// # Cost
//
//	All                           inlined with the loop body: the cost of a loop over slices, and a
//	                              load per entity; a call per chunk, no allocation
//	Chunks                        plain slices; the caller writes the loop over them
//	Parallel                      some microseconds to wake the goroutines, while the caller starts;
//	                              some 20 ns per 1024 entities, then as Chunks
//	query                         locks and unlocks the world, then as All
//	Next and Get                  inlined: an increment in memory, one address per component;
//	                              Get of a Query8 is a call
//	Columns                       as Chunks
//	Component.Column              one look-up per chunk, for columns that not all archetypes have
//	EntityAt                      a visit to each matching archetype
//	Component.Get                 inlined: record, column address, row
//	a filter with ChangedSince    4 bytes read per entity and named component, a call per run of
//	                              changed entities
//	Writes of a filter            4 bytes written per entity and tracked component
//	a filter with To, Each of a
//	Relation                      a look-up, and a visit to each table of the target
//	SetTarget                     moves the row, after a look-up if the target differs from that
//	                              of the entity before
//	create, remove                a slot from the free list, one row; removal moves one row
//	Add, Remove of a component,
//	Exchange                      moves the row to the other archetype and fills the hole
//	NewBatch, NewColumns,
//	AddAll, RemoveAll,
//	ExchangeAll                   per chunk and column
//	Reset                         a visit to each archetype, a free per chunk, nothing per entity
//	an Observer                   a call per entity and event of its kind
//	Shrink                        a visit to each archetype, a free per chunk without rows
//	WriteJSON                     some 450 to 700 ns per entity and component
//	ReadJSON                      some 3 µs and 15 Go allocations per entity and component
//	memory                        8 bytes per entity in its row, 8 in the index, 4 per tracked
//	                              component; per chunk, and per 2048 rows of a larger one, 100 bytes
//	                              and 8 per component type, above 8 types some 20; some 700 per
//	                              archetype, and some 500 per further target of one; at most one chunk
//	                              of a large archetype is unused, of others at most half of the bytes
//
// The command go run -C ecs/bench . compares this with Ark and hand-written loops.
//
// # Concurrency and the collector
//
// A World, its commands and its event queues belong to one goroutine at a time. Parallel of a filter runs
// a body on several goroutines, whose number does not affect the results. Within an open query or a loop
// over Chunks, columns may be passed to other goroutines. Each cell must be written by at most one of
// them, and all must be done before the iteration continues. With -race the entity index is ordinary Go
// memory, so the detector reports races in it.
//
// While a query is open, or an observer or a parallel run is in progress, structural changes panic with
// a *memory.Misuse. Use [World.Commands], in a parallel run [Task.Commands]. A loop over All or Chunks
// does not lock: a structural change in it takes effect, and the loop panics at its next step.
//
// If Config.MaxEntities, MaxComponents or the chunk numbers run out, the error wraps [ErrLimit]. If memory runs out,
// the error wraps memory.ErrOutOfMemory. Other errors of the allocator and of Config.Pages are wrapped, too. In all
// these cases operations on one entity, NewBatch and NewColumns have changed no entity. Operations on all entities of a
// filter, and Apply, keep completed steps, as their comments describe. New archetypes stay. Errors about
// Config.MaxEntities and chunk numbers do not allocate in the Go heap. If the allocator returns one error again and
// again, as a full arena does, only the first error about a chunk of each size allocates. [World] describes panics, a
// closed allocator, and entities of another world. In steady state no operation allocates in the Go heap, except for a
// new chunk with columns in the Go heap. Check, and the functions that read and write worlds, allocate.
//
// Iteration follows the storage order of archetypes and rows, never the order of a Go map. So the same
// operations give the same order and the same [World.Hash].
//
// # Source
//
// Archetype tables in chunks of 16 KiB come from the Entities package of Unity, see "Archetypes
// concepts" in its manual. Cached transitions between archetypes are the archetype graph of Flecs.
package ecs

//go:generate go run ./internal/generate .
