// Package ecs keeps entities and their components in columns that lie off the Go heap.
//
// # The idea
//
// Entities with the same set of component types form an archetype, whose rows are stored
// column by column in fixed-size chunks from any memory.Allocator: a system walks tight
// arrays, and the collector sees none of it. An [Entity] is 8 bytes with a generation, so
// a stale one is found out and never aliased.
//
// Where to look: [New] and [World]; [Register] and [Component] for one type; [Map2] and its
// kin to create and change by several; [Filter2] and [Query2] to walk; [Commands] for
// changes while walking; [Events] and [SetResource] between systems; [World.Stats],
// [World.Hash] and [World.Check] to look inside.
//
// # Layout
//
//	Entity ──page, slot──► record {generation, chunk and row}     8 bytes, in pages of 32 KiB
//
//	one chunk of an archetype {Position, Velocity}, Config.ChunkBytes, cap rows:
//
//	base                                                                     base+ChunkBytes
//	  | Entity × cap | Position × cap | Velocity × cap | unused: less than a row and padding |
//	  ^ 64-aligned   ^ 16-aligned     ^ 16-aligned
//
//	a table:  | full | full | … | tail: rows come and go at its end | at most one spare |
//
// Rows are dense: a removed row is filled with the table's last one. Types that hold Go
// pointers live in columns of the same shape in the Go heap, one slice per chunk, and a
// vacated row is zeroed so that the collector can let go. The spare of a table serves
// entities that come and go at the edge of a chunk; where the allocator is out of memory,
// another table takes it, and [World.Shrink] gives all of them back. All books (the entity index, the
// archetypes, the column addresses) are in the Go heap; chunks hold nothing but rows.
//
// An address of a component holds until its own entity gains or loses a component, or any
// entity of its archetype leaves it. Creating entities never moves a row.
//
// # Use it when, and when not
//
// Use it for many objects of few shapes that systems visit every tick. For a few hundred
// objects with much behaviour each, structs and a pool are simpler. A component that
// flips every tick is better a field than an addition and removal. Pointer-free Go slices
// are not scanned by the collector either: what the chunks win over them is growth without
// copying, addresses that stay, and exact release.
//
// Chunks of 16 KiB suit games of up to some hundred thousand entities in a few dozen
// archetypes. A world that walks a million at a time gains from 64 KiB (Config.ChunkBytes):
// the processor's prefetcher starts anew in every column of every chunk.
//
// # Cost
//
//	query                         about 12 ns, then one step per chunk, no allocation
//	Next and Get                  inlined: an increment and one address per component
//	Columns                       plain slices; the loop over them is the caller's
//	Component.Get                 inlined: record, column address, row
//	create, remove                a slot from the free list, one row; removal moves one row
//	Add, Remove of a component    moves the row to the other archetype, fills the hole
//	NewBatch, NewColumns,
//	AddAll, RemoveAll             per chunk and column
//	Reset                         a free per chunk, nothing per entity
//	Shrink                        a look at each archetype, a free per chunk without rows
//	memory                        8 bytes per entity in its row, 8 in the index; 64 bytes of
//	                              addresses per chunk, some 700 per archetype
//
// The figures beside Ark and hand-written loops come from go test -bench . in ecs/bench.
//
// # Concurrency and the collector
//
// A World, its commands and its event queues belong to one goroutine at a time. Within an
// open query, columns may be handed to several goroutines, as long as each cell is written
// by one of them and all are done before the query goes on. All books are ordinary Go
// memory, so -race reports a second goroutine.
//
// While a query is open, every structural change panics with a *memory.Misuse; use
// [World.Commands]. Running out of memory is an error that wraps memory.ErrOutOfMemory,
// changes no entity, and allocates only where the allocator's own error does; archetypes
// that were new stay known. What a panic leaves, a closed allocator, and entities of another
// world are described at [World]. In steady state
// no operation allocates from the Go heap, except a new chunk with pointerful columns.
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
