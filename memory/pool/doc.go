// Package pool holds the fixed-size families: equal slots, each handed out and given back by
// itself, in constant time and without fragmentation.
//
// # The idea
//
// What a game makes and destroys one by one, it makes by the thousand and in few types. Then
// a free slot needs no search and no size, and allocation is a pop from a stack of slot
// numbers.
//
// # Layout
//
//	Blocks   | slot | slot |      | slot |·······|- - - - -     untyped, named by pointer
//	                        carved^   committed^  ^reserved
//
//	Pool[T]  | T | T |   | T |···|- - - - -                     typed, named by handle
//	Split    | H | H |   | H |···|- - - - -                     two regions, one handle
//	         | CCCC | CCCC |      | CCCC |·····|- - - - -
//
//	Go heap  stack of vacant slots, live bits, and for handles the generations
//
// Slots never move: a pool grows by committing more of its reservation.
//
// # Use it when, and when not
//
//	| type | use it for | not for |
//	|---|---|---|
//	| Blocks | blocks of one size: chunks of columns, nodes, buffers | mixed sizes: slab |
//	| Pool | game objects that others refer to | what dies with the frame or level at once: arena |
//	| Split | objects of which every frame walks a few fields | objects that are used whole |
//	| Registry | a pool per type, with the books of all | code per entity: keep the *Pool |
//
// # Cost
//
//	| operation | cost | overhead |
//	|---|---|---|
//	| Blocks.TryGet, Put | pop or push, a live bit; inlined | 4 bytes a slot, 1 bit per 16 bytes; rounding up to 16 |
//	| Blocks.Get | the same behind a call; a refill per 64 slots or 16 KiB of first use | same |
//	| Pool.New, Free | pop or push, a generation, a live bit, and the zeroing of New | 65 bits a slot |
//	| Pool.Get, Split.Get | a comparison of generations; inlined | none |
//	| Cursor.Next | the next set bit; inlined | none |
//	| Reset | Blocks: clears the bits; Pool: a step per live object | none |
//	| Trim, Check | a step per slot carved | a temporary bit per slot |
//
// External fragmentation cannot occur, but only the tail behind the last live slot can be
// given back to the system. The books double as a pool grows, which copies them: Grow does it
// ahead. The benchmarks of this package print the figures, with the Go heap beside them.
//
// # Concurrency and the collector
//
// One goroutine at a time; what only reads (Get, Hot, Cold, iteration) may run on several
// while none changes the pool. Slots lie off the Go heap and hold no Go pointers: the typed
// constructors refuse types that do.
//
// # Source
//
// Kenwright, "Fast Efficient Fixed-Size Memory Pool", Computation Tools 2012, for slots carved
// lazily; its links inside the free slots became a stack outside, which does not touch the
// block. Generations beside indices: West, "Evolve Your Hierarchy", 2007, and slot maps since.
package pool
