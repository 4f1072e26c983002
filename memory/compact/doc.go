// Package compact has a heap whose blocks move. Handles name the blocks. A bounded step of compaction in each frame
// slides the blocks together, so no free memory is lost between them.
//
// # The idea
//
// Code that stores a handle instead of an address is not affected when a block moves. So blocks can slide toward the
// base, a few kilobytes at a time, until all free memory is one block after them. Code that needs an address for a
// while locks the block. A locked block does not move.
//
// # Layout
//
//	handle #7.3 --> record 7: generation 3, offset, size, gap, locks        Go heap
//
//	base                                                committed
//	  | a |·| b |······| L |··| c |·············|       L is locked
//	  | a | b |········| L | c |················|       after Compact
//	  | a | b | L | c |·························|       after Unlock and Compact
//
// The memory contains only blocks. The free bytes after a block are the block's gap. The block's record has the size
// of the gap. So freeing coalesces by addition, and moving a block is one subtraction.
//
// # Use it when, and when not
//
//	use it for                                         not for
//	streamed assets of all sizes in a fixed budget:    blocks with pointers to them for a long
//	every free byte is usable                          time: locks prevent compaction
//	long sessions, in which a heap that cannot move    many small objects: memory/pool,
//	blocks fragments                                   memory/slab
//	data that can be looked up once per use            data freed together: memory/arena
//
// # Cost
//
//	operation                    cost                                           overhead
//	Alloc                        constant: two bitmap searches and, before it   rounding up to
//	                             grows or fails, a look at 32 gaps at most      Config.Align
//	Alloc, more blocks than      a copy of the records to an array of twice
//	ever before                  the size
//	Free, Lock, Unlock, Bytes    constant; Lock and Bytes finish a move of      none
//	                             the block that Compact has begun
//	Resize                       as Lock; as Alloc if the heap grows            none
//	Compact                      at most its budget: bytes moved, and 56 for    none
//	                             each record visited
//	Stats                        constant
//	Reset, Blocks                a step per live block
//	metadata                                                                    56 bytes per block,
//	                                                                            live or once live;
//	                                                                            2.5 KiB per heap
//
// A failing Alloc takes 0.2 to 1.3 µs if all of the 1,000, 10,000 or 40,000 gaps of its bin are too small (go test
// -bench Gaps).
//
// External fragmentation is the memory in gaps. If no block is locked, a Compact that returns done reduces it to 0. A
// pass moves a block once, or twice if a block in front of it is freed while it moves. The budget bounds how fast gaps
// are gathered. With STRATA_TEST=full, TestCompact_BoundsFragmentation has a heap that is 88 % full and replaces four
// random blocks of up to 64 KiB a frame. Its mean external fragmentation is 0.92 without Compact, 0.35 with 256 KiB a
// frame, 0.15 with 1 MiB, and 0 without a bound.
//
// # Concurrency and the collector
//
// One goroutine at a time may call a Heap, and no other may read a block during Compact. The collector does not scan
// blocks. They must contain neither Go pointers nor pointers to blocks: store handles. The metadata is one slice
// without pointers, so the collector does not scan it either.
//
// # Source
//
// Relocatable blocks, master pointers and locking: Apple, "Inside Macintosh: Memory", 1992, chapter 1.
//
// Sliding in order of address: Cohen and Nicolau, "Comparison of compacting algorithms for garbage collection", ACM
// TOPLAS 5(4), 1983. With handles their passes that update references are unnecessary, so the work can be divided
// into steps.
package compact
