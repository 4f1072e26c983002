// Package buddy is the heap whose blocks split into two and find each other again: binary and
// Fibonacci buddies over one ladder of sizes.
//
// # The idea
//
// The reservation is one large block. A request splits a block into two buddies, and one of
// them again, until the next split would be too small. Where a block lies and how large it is
// say which block its buddy is, so Free merges up the ladder without a search.
//
// # Layout
//
//	Binary      16 = 8 + 8, 8 = 4 + 4 …        Fibonacci   13 = 8 + 5, 8 = 5 + 3 …
//	|               16              |          |            13           |
//	|       8       |       8       |          |       8       |    5    |
//	|   4   |   4   |                          |    5    |  3  |
//	| 2 | 2 |                                  |  3  | 2 |
//
//	Go heap    books   an entry per MinBlock: size, side, list links or request
//	           lists   free blocks by size; a bitmap finds the first that is large enough
//	memory     | live | free | live |  free  | - - not committed - - | guard
//
// The books lie apart from the memory: splitting and merging touch no block, an overflow cannot
// reach them, and every address but those that Alloc returned is told apart from them. So a
// double free, an interior or foreign pointer and a size that is wrong by one byte are all
// found before anything changes, in every build.
//
// # Use it when, and when not
//
//	use it for                                                 not for
//	textures, meshes, tiles: sizes that are powers of two      sizes just above one: memory/tlsf
//	blocks aligned to their own size (Binary)                  strings and small objects: memory/slab
//	times that depend on the size of the heap, not its blocks  blocks that grow byte by byte: memory/tlsf
//	                                                           giving back the end of the heap, since blocks
//	                                                           lie anywhere in it: memory/freelist packs
//
// # Cost
//
//	operation                      cost
//	Alloc                          O(log n): a bitmap search, a split per rung
//	Alloc, aligned above MinBlock  the same; where none fits wherever it lies, the smaller free
//	                               blocks are searched
//	Alloc that grows the heap      a system call per 256 KiB, and the tree walked down
//	Free, FreeAny                  O(log n): a merge per rung
//	Resize                         O(log n): a split or a merge per rung
//	Stats                          constant
//	Trim                           the tree walked down, and the system call
//	Reset                          12 bytes cleared per committed unit of MinBlock
//
//	overhead                       bytes
//	a block                        rounded up to a rung, see below; where it is aligned above MinBlock,
//	                               Fibonacci pads it and splits it no further
//	books                          12 per unit of MinBlock reserved
//
// n is the size of the reservation in units. The benchmarks of this package print the times,
// with the Go heap beside them.
//
// What the ladder wastes, in per cent of the memory in use, on the 1581 words and 71 sentences
// of this repository's LICENSE, is printed by
//
//	go test ./memory/buddy -run TestWaste -v
//
//	ladder                     words  sentences
//	slab 16-byte steps          65.9        5.5
//	slab geometric              65.9        6.9
//	slab Fibonacci              65.9       24.8
//	slab powers of two          65.9       32.2
//	Fibonacci buddy             65.9       24.8
//	Binary buddy                65.9       32.2
//	Fibonacci from 1 byte       14.7       19.2
//	powers of two from 1 byte   24.0       31.4
//
// So Fibonacci sizes waste a quarter to two fifths less than powers of two, and much more than
// a slab's finer classes, which do not have to merge. Words are shorter than the 16 bytes that
// every ladder here starts with; the last two rows show ladders that no allocator of this
// module has, because their books would outweigh the blocks. Store words in one buffer.
//
// # Concurrency and the collector
//
// One goroutine at a time. Blocks lie off the Go heap and must hold no Go pointers. The books
// are slices without pointers, so the collector does not scan them either.
//
// # Source
//
// Knowlton, "A Fast Storage Allocator", CACM 8(10), 1965, for binary buddies; Hirschberg, "A
// Class of Dynamic Memory Allocation Algorithms", CACM 16(10), 1973, for Fibonacci ones;
// Cranston and Thomas, "A Simplified Recombination Scheme for the Fibonacci Buddy System",
// CACM 18(6), 1975, for the two bits that find a buddy; Peterson and Norman, "Buddy Systems",
// CACM 20(6), 1977, for one recurrence that gives both.
package buddy
