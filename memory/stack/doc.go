// Package stack holds the LIFO families: a block is freed only while it is the newest of its
// end, and freeing it gives back every byte that it cost, padding included.
//
// # The idea
//
// Loads, parses and nested scopes free in the reverse order of allocation. Then the free
// memory is one gap, an edge in a buffer is the whole allocator, and a log of the live blocks
// in the Go heap tells a free out of order from a right one, exactly.
//
// # Layout
//
//	Stack     | a | b |  c  |·························|     one edge, which rises
//	                        ^edge
//
//	Double    | a | b |  c  |·············| z |   y   |     two edges that meet in the middle
//	          bottom        ^             ^         top
//
//	Pivot     |·····|  header  | body | body  |·······|     two edges that leave one point
//	          backward ^       ^pivot         ^ forward
//
// The buffer is one reservation, committed as a whole: a falling edge starts at its far end.
// Nothing is written into it but by its users, and by debug builds, which fill; the log holds
// 24 bytes a live block.
//
// # Use it when, and when not
//
//	type    use it for                                      not for
//	------  ----------------------------------------------  -----------------------------
//	Stack   nested work whose frees should be checked,      blocks that die in any order
//	        with marks and a newest block that grows
//	Double  two lifetimes in one budget: what a load        two budgets: take two Stacks
//	        leaves behind and what it needs on the way
//	Pivot   data that gets parts put before it and behind   one direction: take a Stack
//	        it, without a copy
//
// Where frees need no check, an arena.Linear with marks is cheaper; where blocks are only
// ever undone, arena.StepBack keeps 8 bytes a block.
//
// # Cost
//
//	operation                              cost                               overhead
//	-------------------------------------  ---------------------------------  ------------------------
//	Alloc                                  constant, one call; the log grows  padding, 24 bytes of log
//	                                       by doubling                        (12 on 32 bits)
//	Free, Newest, Resize of the newest     constant                           none
//	Mark, Rewind, Reset                    constant                           16 bytes a mark (12)
//	Resize of an older block, which fails  O(log n) to tell it from a         none
//	                                       foreign pointer
//
// External fragmentation cannot occur. The benchmarks print the figures, with the Go heap
// beside them.
//
// # Concurrency and the collector
//
// One goroutine at a time, for both ends of a buffer together: each reads the other's edge.
// Blocks lie off the Go heap and hold no Go pointers.
//
// # Source
//
// Knuth, The Art of Computer Programming, volume 1 (1968), section 2.2.2, for two stacks
// that grow towards each other in one table; the marks follow Hanson, "Fast allocation and
// deallocation of memory based on object lifetimes", Software: Practice and Experience 20(1), 1990.
package stack
