// Package tiers is the memory manager, ready made: all of a game's memory in one reservation,
// cut into tiers that die at different moments.
//
// # The idea
//
// A frame, a level, an entity and a texture do not die together, so they do not live
// together. The manager owns one allocator for each lifetime, resets them at the game's own
// milestones, routes a Free by address alone, keeps a budget for each tier, paces Go's
// collector, and can say at any moment where every byte is.
//
// # Layout
//
//	| static | frame k | frame k-1 | level ....> | pools ....> | large ....> | slab ....> | worker 0 | worker 1 |
//	  one reservation; tiers begin on 1 MiB regions, a byte per region names the tier
//
//	| tier | what it is | dies |
//	|---|---|---|
//	| Static | buffers with declared lifetimes, placed by plan once per level | EndLevel |
//	| Frame | arena.Frames, double buffered | N frames later |
//	| Level | arena.Growing | EndLevel |
//	| Pools | component columns, typed pools, particle columns | entity by entity; all at EndLevel |
//	| Slab | slab.Heap, up to 4 KiB | block by block; leak report at EndLevel |
//	| Large | tlsf.Heap | block by block; leak report at EndLevel |
//	| Inbox | a heap per worker goroutine | when the game goroutine frees them, through remote |
//
// The calls come in this order, and anything else is an error that says so:
//
//	New { BeginLevel { BeginFrame EndFrame }* EndLevel | BeginFrame EndFrame }* Close
//
// # Use it when, and when not
//
// Use it for a game with frames and levels. An engine that has lifetimes of its own takes the
// families from their packages instead; nothing here is hidden from it.
//
// # Cost
//
//	| operation | cost |
//	|---|---|
//	| Frame, Level, Slab, Large | the family's own; the accessors inline |
//	| FreeAny | a range check, a byte of the route table, the family's own free |
//	| BeginFrame, EndFrame | constant, plus the frees that came home |
//	| BeginLevel | constant |
//	| EndLevel | constant, plus pools and hooks, plus one collection of the Go heap |
//	| Snapshot | a few microseconds, no allocation |
//
// # Concurrency and the collector
//
// The manager belongs to the game goroutine; a [Worker] to its worker; a Freer to whoever
// asked for it. While a manager lives, the collector runs when the Go heap has grown by
// Config.GoHeadroom, at EndLevel and at Collect, and otherwise rests; Close restores what was set before.
//
// # Source
//
// Lifetimes as tiers: Hanson (1990), see package arena; the route table is the pagemap of
// Ghemawat and Menage, "TCMalloc: Thread-Caching Malloc" (2005), at the scale of regions.
package tiers
