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
//	| BeginLevel | constant, plus the rest of a collection that is under way |
//	| EndLevel | constant, plus pools and hooks, plus a collection of the Go heap if one is due |
//	| Snapshot | a few microseconds, no allocation |
//
// # Concurrency and the collector
//
// The manager belongs to the game goroutine; a [Worker] to its worker; a Freer to whoever
// asked for it.
//
// The pacing is the process's. While a manager without [Config.KeepGC] lives, the collector runs
// when the Go heap has grown by [Config.GoHeadroom], or by what GOGC allows where that is more; at
// EndLevel when plain Go would have run by then; and at Collect. So there is never a collection
// more than without a manager but those of Collect, and none in a level that makes less garbage
// than the headroom, except the one that the runtime begins when there was none for two
// minutes, and those that a memory limit asks for. A collection at EndLevel blocks, and costs
// what it costs in plain Go: with a large live heap a level change takes that long, and with
// several managers the levels of the others bear it, too.
//
// # Source
//
// Lifetimes as tiers: Hanson (1990), see package arena; the route table is the pagemap of
// Ghemawat and Menage, "TCMalloc: Thread-Caching Malloc" (2005), at the scale of regions.
package tiers
