// Package compact is a heap whose blocks move: they are named by handles, and a bounded step
// of compaction a frame slides them together, so that no free memory is lost between them.
//
// # The idea
//
// Who holds a handle and not an address does not notice that a block has moved. So blocks can
// slide toward the base, a few kilobytes at a time, until all free memory is one block behind
// them. Who needs an address for a while locks the block, and it stays.
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
// The memory holds nothing but blocks. The free bytes behind a block, its gap, are a number
// in its record, so freeing merges by addition, and moving a block is one subtraction.
//
// # Use it when, and when not
//
//	use it for                                         not for
//	streamed assets of all sizes in a fixed budget:    what others point into for long: locks
//	every byte free is a byte usable                   defeat it
//	long sessions, where a heap that cannot move       many small objects: memory/pool,
//	fragments                                          memory/slab
//	data that can be looked up once per use            data that dies together: memory/arena
//
// # Cost
//
//	operation                    cost                                           overhead
//	Alloc                        constant: two bitmap searches and, before it   rounding up to
//	                             grows or refuses, a look at 32 gaps at most    Config.Align
//	Alloc, more blocks than      a copy of the books into twice the room
//	ever before
//	Free, Lock, Unlock, Bytes    constant; of the one block that is half        none
//	                             moved, Lock and Bytes finish the move
//	Resize                       as Lock; in place, as Alloc where the heap     none
//	                             grows
//	Compact                      at most its budget: bytes moved, and 56 for    none
//	                             each record passed
//	Stats                        constant
//	Reset, Blocks                a step per live block
//	books                                                                       56 bytes per block,
//	                                                                            live or once live;
//	                                                                            2.5 KiB per heap
//
// A request that is refused where 1,000, 10,000 or 40,000 gaps of its bin are all too small
// takes from 0.2 to 1.3 µs; a search of the whole bin took 27, 360 and 2,900 µs (go test -bench
// Gaps; AMD EPYC, Go 1.26.8, two cores busy with other work as well: the lowest of 3 rounds).
//
// External fragmentation is what gaps hold; after a Compact that reports done, with nothing
// locked, it is 0. A pass moves a block once, or twice when what lies in front of it is freed
// while it moves. The budget bounds how fast gaps are gathered: a heap that is 88 % full and
// replaces four random blocks of up to 64 KiB a frame has a mean external fragmentation of
// 0.92 without Compact, 0.35 with 256 KiB a frame, 0.15 with 1 MiB, and 0 without a bound, as
// TestCompact_BoundsFragmentation prints. The benchmarks print times, with the Go heap beside.
//
// # Concurrency and the collector
//
// One goroutine at a time: a block must not be read in one while another compacts. Blocks lie
// off the Go heap and must hold no Go pointers, nor pointers to blocks: store handles. The
// books are one slice without pointers, so the collector does not scan them.
//
// # Source
//
// Relocatable blocks, master pointers and locking: Apple, "Inside Macintosh: Memory", 1992,
// chapter 1. Sliding in order of address is the family that Cohen and Nicolau, "Comparison of
// compacting algorithms for garbage collection", ACM TOPLAS 5(4), 1983, compare; handles make
// the passes that update references there unnecessary, and so the work divisible.
package compact
