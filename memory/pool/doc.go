// Package pool has the fixed-size allocators: slots of equal size, allocated and freed one by one in amortized
// constant time, without external fragmentation.
//
// # The idea
//
// A game creates and destroys many objects one by one, but of few types. For one type, no search for a free slot is
// needed: an allocation pops a slot number from a stack.
//
// # Layout
//
//	Blocks   | slot | slot |      | slot |·······|- - - - -     untyped, found by pointer
//	                        opened^   committed^  ^reserved
//
//	Pool[T]  | T | T |   | T |···|- - - - -                     typed, found by handle
//	Split    | H | H |   | H |···|- - - - -                     two regions, one handle
//	         | CCCC | CCCC |      | CCCC |·····|- - - - -
//
//	metadata stack of vacant slots, live bits, and with handles the generations
//
// Slots never move: a pool grows by committing more of its reservation.
//
// # Use it when, and when not
//
//	Blocks      blocks of one size: chunks of columns, nodes, buffers
//	Pool        game objects that others refer to
//	Split       objects of which every frame reads only some fields
//	Registry    a pool for each type, with common statistics
//	not: slab   mixed sizes
//	not: arena  objects that are freed together, with the frame or level
//
// # Cost
//
//	Blocks.TryGet, Put      pop or push and a live bit; both inline
//	Blocks.Get              the same behind a call; a refill for each 64 slots or 16 KiB of first use
//	    overhead            4 bytes for a slot and a bit for 16 bytes; rounding up to 16
//	Pool.New, Free          pop or push, a generation, a live bit, and the zeroing of New
//	    overhead            65 bits for a slot
//	Pool.Get, Split.Get     a comparison of generations; both inline
//	All                     the next live bit; inlines
//	Runs                    the next run of up to 64 live objects, as a slice; inlines
//	Registry.NewIn, FreeIn  New or Free after a map lookup; a *Pool needs none
//	Reset                   Blocks: clears the bits; Pool: a step for each slot that was used
//	Trim                    a step for each slot that was used
//	Check                   a step and a temporary bit for each slot with metadata
//
// There is no external fragmentation, but Trim returns only the memory behind the last live slot. When a pool grows,
// its metadata doubles, so it takes up to twice the figures above. Each part of the metadata lies in the Go heap up to
// 64 KiB. A longer part lies in a reservation of the system for Capacity slots ([page.Table]): there it doubles by a
// system call and is not copied. There are exceptions: 32-bit systems, sources that are not based on page.OS (as with
// -race and in the browser), and a system that refuses addresses. There it is copied to an array of twice the size. For
// eight million slots that took 39 ms. Grow does it in advance. BenchmarkSlowestAlloc prints the slowest Get of a pool
// that grows, and the other benchmarks of this package compare the costs with the Go heap.
//
// Close every pool. If the program loses a pool without Close, its slots and the reservations of its metadata stay until
// the process ends. Debug builds report the slots, see page.OnDropped, and not the metadata. If the slots lie in a
// page.Carve or in a manager, its Close releases both.
//
// # Misuse
//
//	double free, interior,    Blocks: panics with a *memory.Misuse; memfast builds detect less, see
//	foreign pointer           Blocks
//	stale handle, handle of   Pool, Split: Get returns ok == false, Free returns false
//	another or closed pool
//	wrong size                panics if larger than a slot; debug builds check to the byte
//	use after free            debug builds: panics when a written slot is allocated again
//	use after Close, or       Get, Alloc, New, Grow and Trim fail with ErrClosed, handles are stale,
//	after the source ended    Put, SizeOf and Reset panic
//
// # Concurrency and the collector
//
// A pool belongs to one goroutine at a time. Get, Hot and Cold with a handle, and iterations, only read: several
// goroutines may read a pool while none changes it. The collector does not scan slots, so they must contain no Go
// pointers: the typed constructors refuse types with pointers.
//
// # Source
//
// Kenwright, "Fast Efficient Fixed-Size Memory Pool", Computation Tools 2012, for slots that are opened lazily.
// Kenwright links the free slots with each other. This package keeps them on a separate stack, so that a free does
// not touch the block. Handles with a counter that detects stale ones: Bilas, "A Generic Handle-Based Resource
// Manager", Game Programming Gems, 2000, and slot maps since.
package pool
