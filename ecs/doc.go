// Package ecs keeps entities and their components in columns that lie off the Go heap.
//
// # The idea
//
// Entities with the same set of component types form an archetype, whose rows are stored
// column by column in chunks of growing size from any memory.Allocator: a system walks tight
// arrays, and the collector sees none of it. An [Entity] is 8 bytes with a generation, so
// a stale one is found out and never aliased.
//
// Where to look: [New] and [World]; [Register] and [Component] for one type; [Map2] and its
// kin to create and change by several; [Filter2], its All and Chunks, and [Query2] to walk, its
// Parallel and [Workers] to walk on several goroutines; [Commands] for changes while walking;
// [Relation] for entities that refer to others; [Observer] to be told of changes; [Events] and
// [SetResource] between systems; [World.Track], [World.Tick] and ChangedSince of filters to find what
// was written since; [World.RegisterSize], [World.Ptr] and [NewFilterOf] for types
// that are known at run time; [World.WriteJSON] and [World.ReadJSON] to save; [World.Stats],
// [World.Hash] and [World.Check] to look inside.
//
// # For who knows Ark
//
//	ecs.NewWorld(n)                   New, with an allocator; the world has a Close, and at most Config.MaxEntities
//	NewMap2, NewEntity(&a, &b)        NewMap2, NewEntity(a, b): an error where memory is out
//	NewBatchFn, NewBatch(n, &a, &b)   NewBatch(n, fill); NewColumns, where the entities are wanted
//	Map.Get                           Component.Get, which says whether there is one
//	Filter2.Register                  nothing: every filter remembers what matches
//	Query, Next, Get                  All, a range loop, is faster and locks nothing; Query locks the world
//	NextTable, GetColumns             Chunks
//	Query.Count, Query.EntityAt       Len and EntityAt of the filter; the order of rows is another than Ark's
//	Filter2.Batch                     the filter itself, as in World.RemoveAll and AddAll of a mapper
//	AddBatchFn, RemoveEntities(b, f)  AddAll, and a loop over the filter behind it, or in front of RemoveAll
//	Exchange2                         Removes and Exchange of a mapper
//	Rel, RelIdx, of a call            To of a mapper or filter, which stays until the next To, or ToAny
//	SetRelations, SetRelationsBatch   Relation.SetTarget, Relation.SetTargetAll
//	GetRelation                       Relation.Target, false where the target is gone
//	Observe(OnCreateEntity), ...      World.OnCreate and OnRemove; with For(C), OnAdd and OnRemove of C
//	OnAddComponents, OnSetComponents  Component.OnAdd, OnRemove and OnSet, of one component each
//	OnAddRelations, OnRemoveRelations those of the Relation; another target is told by its OnSet
//	EventRegistry, Emit               Events: queues, nobody is called
//	AddResource, GetResource          SetResource, Resource
//	ComponentID, Unsafe               World.RegisterSize, World.AddID, NewFilterOf
//	Unsafe.IDs(e)                     World.HasID for each of World.IDs
//	a removed entity                  an answer, false or ErrStale, and no panic
//
// Filters and components belong to a world: nothing is looked up by type in a loop.
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
// A few entities take 1 KiB, and a walk over a million enters new columns some twenty
// times. A batch takes larger chunks at once, each the largest that it fills by half, or by a third where that is the second size: a thousand
// entities that come together lie in one chunk unless a row has more than 64 bytes, and are walked as fast as a slice; one by one they come
// to five, whose edges are some per cent of the walk. Growing copies nothing: chunks stay where they are until they are empty. Where the
// allocator has no block of the size that is due, because it is too large for it or for what is
// left of a budget, the world takes a smaller one. Neither order nor [World.Hash] depends on it.
//
// Rows are dense: a removed row is filled with the table's last one. Types that hold Go
// pointers live in columns of the same shape in the Go heap, one slice per chunk, and a
// vacated row is zeroed so that the collector can let go. The spare of a table serves
// entities that come and go at the edge of a chunk; where the allocator is out of memory,
// another table takes it, and [World.Shrink] gives all of them back. The four tables that got a spare
// last keep it. Older spares are given back by themselves if all spares together take more than 64 KiB, columns in
// the Go heap included, and more than a sixteenth of all chunks.
//
// Chunks hold nothing but rows. The index of entities lies in pages of its own, Config.Pages,
// so that it grows without a copy; the archetypes and the addresses of columns are in the Go
// heap. The collector finds one pointer per chunk there: a collection beside a million entities
// costs what it costs beside none.
//
// An address of a component holds until its own entity gains or loses a component, or any
// entity of its archetype leaves it. Creating entities never moves a row.
//
// # Relations
//
// A component of type ChildOf, Likes or DockedAt can carry a target, another entity: see
// [RegisterRelation]. Entities of the same components are then in one table for each target, and
// "all children of e" is a walk over the rows of just those:
//
//	archetype {Position, ChildOf}    ChildOf → a:  | rows … |      4 × 1 KiB, 4 × 4 KiB, 4 × 16 KiB …
//	                                 ChildOf → b:  | rows … |
//	index: (ChildOf, a) → tables     in the order in which they became those of a
//
// Changing a target moves the row. A target that is removed costs nothing, and leaves a stale one
// behind, which [Relation] describes. An entity in a field of a component is better where nobody
// asks for "all of e", where nearly every entity has a target of its own, or where targets
// change every tick.
//
// # Hot and cold components
//
// Nothing is to be done for components that are rarely read: each has a column of its own, and a walk
// touches those alone that its filter names. A walk over two components of 100,000 entities takes
// what it takes without them, when each has 256 bytes beside that it does not read, and a quarter of
// what a slice of such structs takes (row "walk 100000 beside 256 cold bytes" of ecs/bench). What pays
// is to make hot and cold fields two components. Creation, removal and moves copy all columns of a row.
//
// # What changed since
//
// A component that [World.Track] names has a second column beside its own, with the [Tick] at which each row
// was written last. [World.Tick] ends one and begins the next; a filter's ChangedSince yields the
// entities that were written after one, each of them and no other. Operations that write note it by
// themselves. Loops and passes that write through their pointers say so once, by Writes of their filter,
// which notes all rows that they come to; for a single entity there is [Component.Touch].
//
//	one chunk of {Position, Velocity}, Position tracked:
//
//	  | Entity × cap | Position × cap | Tick × cap | Velocity × cap | … |
//
// An Observer is told at once and calls a function for each write; ticks cost a store, and are looked at
// by who wants to know, when he wants to: what is to be sent, drawn or indexed anew once a frame.
//
// # Use it when, and when not
//
// Use it for many objects of few shapes that systems visit every tick. For a few hundred
// objects with much behaviour each, structs and a pool are simpler. A component that
// flips every tick is better a field than an addition and removal. Pointer-free Go slices
// are not scanned by the collector either: what the chunks win over them is growth without
// copying, addresses that stay, and exact release.
//
// # Cost
//
//	All                           inlined with the loop's body: what a loop over slices costs, and a
//	                              load per entity; a call per chunk, no allocation
//	Chunks                        plain slices; the loop over them is the caller's
//	Parallel                      wakes the goroutines, some microseconds in which the caller has
//	                              begun; some 20 ns for each 1024 entities, then as Chunks
//	query                         locks and unlocks the world, then as All
//	Next and Get                  inlined: an increment in memory, one address per component;
//	                              Get of a Query8 is a call
//	Columns                       as Chunks
//	Component.Column              one look-up per chunk: for columns that not all archetypes have
//	EntityAt                      a look at each archetype that matches
//	Component.Get                 inlined: record, column address, row
//	a filter narrowed by
//	ChangedSince                  a look at 4 bytes of each entity and component named, a call per
//	                              run of changed ones
//	Writes of a filter            4 bytes written for each entity and component tracked
//	a filter narrowed by To       a map look-up, and a look at each table of that target
//	SetTarget                     moves the row, after a map look-up where the target is another than
//	                              that of the entity before
//	create, remove                a slot from the free list, one row; removal moves one row
//	Add, Remove of a component,
//	Exchange                      moves the row to the other archetype, fills the hole
//	NewBatch, NewColumns,
//	AddAll, RemoveAll,
//	ExchangeAll                   per chunk and column
//	Reset                         a free per chunk, nothing per entity
//	an Observer                   a call per entity and event of its kind
//	Shrink                        a look at each archetype, a free per chunk without rows
//	WriteJSON                     some 350 ns per entity and component
//	ReadJSON                      some 3 µs and 15 Go allocations per entity and component
//	memory                        8 bytes per entity in its row, 8 in the index, 4 for each component
//	                              that is tracked; 100 bytes per chunk and 8 more for each type of
//	                              the world, some 700 per archetype or target of one; of a large
//	                              archetype's chunks at most one is unused, of any other's half
//	                              of the bytes
//
// The figures beside Ark and hand-written loops come from go run -C ecs/bench .
//
// # Concurrency and the collector
//
// A World, its commands and its event queues belong to one goroutine at a time. Parallel of a
// filter runs a body on several, with the same results for any number of them. Within an
// open query, or a loop over Chunks, columns may be handed to other goroutines as well, as long as
// each cell is written by one of them and all are done before the query goes on. In builds with
// -race all books are ordinary Go memory, so a second goroutine is reported.
//
// While a query is open, a pass is under way or an observer is told, every structural change
// panics with a *memory.Misuse; use [World.Commands], in a pass [Task.Commands]. A loop over All or
// Chunks locks nothing: a structural change within it is carried out, and it is the loop that
// panics, at its next step.
//
// A limit that more memory does not raise is an error that wraps [ErrLimit]. Running out of memory
// is an error that wraps memory.ErrOutOfMemory. Either changes no entity, and
// allocates only where the allocator's own error does; archetypes that were new stay known.
// What a panic leaves, a closed allocator, and entities of another world are described at
// [World]. In steady state no operation allocates from the Go heap, except a new chunk with
// pointerful columns.
//
// Iteration follows the order in which archetypes and rows came about, and nothing iterates
// over a Go map: the same operations give the same order and the same [World.Hash].
//
// # Source
//
// Archetype tables in chunks of 16 KiB are known from the Entities package of Unity, whose
// manual describes them under "Archetypes concepts"; the way a row takes from archetype to
// archetype along cached edges is the archetype graph of Flecs. Swap-removal in dense
// arrays and generations in handles are older than both.
package ecs

//go:generate go run ./internal/generate .
