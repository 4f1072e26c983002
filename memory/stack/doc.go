// Package stack has the LIFO allocators: only the newest block of an end can be freed, and its Free reclaims all of
// its bytes, padding included.
//
// # The idea
//
// Loads, parses and nested scopes free in the reverse order of allocation. The free memory is then one gap. The
// allocator is one offset in a buffer: the edge between the live blocks and the gap. A log of the live blocks, in the
// Go heap, detects every free out of order.
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
// The buffer is one reservation, committed as a whole, because a falling edge starts at its far end. Only the program
// writes into the buffer; debug builds also fill it. The log has 24 bytes for a live block.
//
// # Use it when, and when not
//
//	type    use it for                                      do not use it for
//	------  ----------------------------------------------  -----------------------------
//	Stack   nested work whose frees should be checked,      blocks that are freed in any
//	        with marks and a newest block that grows        order
//	Double  two lifetimes in one budget: what a load        two budgets: use two Stacks
//	        leaves behind and its temporary data
//	Pivot   data that is extended at both ends without      one direction: use a Stack
//	        a copy
//
// If frees need no check, an arena.Linear with marks is cheaper. If blocks are only undone, an arena.StepBack needs 8
// bytes for a block.
//
// # Cost
//
//	operation                              cost                               overhead
//	-------------------------------------  ---------------------------------  ------------------------
//	Alloc                                  constant, one call; the log grows  padding, 24 bytes of log
//	                                       by append                          (12 on 32 bits)
//	Free, Newest, Resize of the newest     constant                           none
//	Mark, Rewind, Reset                    constant                           16 bytes for a mark (12)
//	Resize of an older block, which fails  O(log n) to tell it from a         none
//	                                       foreign pointer
//
// There is no external fragmentation. The benchmarks compare the costs with the Go heap.
//
// # Concurrency and the collector
//
// One goroutine at a time may use a buffer with both its ends, because each end reads the edge of the other end.
// The collector does not scan blocks, so they must contain no Go pointers.
//
// # Source
//
// Knuth, The Art of Computer Programming, volume 1 (1968), section 2.2.2, for two stacks that grow towards each other
// in one table. The marks are those of mark and release in UCSD Pascal, and of the obstacks in the GNU C library.
package stack
