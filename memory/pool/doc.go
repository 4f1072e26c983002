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
//	Blocks      blocks of one size: chunks of columns, nodes, buffers
//	Pool        game objects that others refer to
//	Split       objects of which every frame walks a few fields
//	Registry    a pool per type, with the books of all
//	not: slab   mixed sizes
//	not: arena  what dies at once, with the frame or level
//
// # Cost
//
//	Blocks.TryGet, Put      pop or push and a live bit; both inline
//	Blocks.Get              the same behind a call; a refill per 64 slots or 16 KiB of first use
//	    overhead            4 bytes a slot and a bit per 16 bytes; rounding up to 16
//	Pool.New, Free          pop or push, a generation, a live bit, and the zeroing of New
//	    overhead            65 bits a slot
//	Pool.Get, Split.Get     a comparison of generations; both inline
//	Cursor.Next             the next live bit; inlines
//	Registry.NewIn, FreeIn  New or Free behind a map lookup, which holding the *Pool saves
//	Reset                   Blocks: clears the bits; Pool: a step per live object
//	Trim                    a step per slot carved
//	Check                   the same, and a temporary bit per slot
//
// External fragmentation cannot occur, but only the tail behind the last live slot can be
// given back to the system. The books double as a pool grows, which copies them, and so take
// up to twice the figures above; Grow does it ahead. The benchmarks of this package print the
// figures, with the Go heap beside them.
//
// # What is caught
//
//	double free, interior,    Blocks: a Misuse; memfast builds see less, as Blocks says
//	foreign pointer
//	stale handle, another     Pool, Split: ok == false, and Free is false
//	pool's, a closed pool's
//	a size no slot serves     a Misuse; debug builds know the size to the byte
//	write after free          debug builds: a Misuse when the slot is handed out again
//	use after Close, or once  ErrClosed, stale handles, a Misuse that says closed
//	the source has ended
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
