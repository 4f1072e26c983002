// Package buddy is a heap whose blocks split into two buddies and merge again: binary and Fibonacci buddies over one
// ladder of sizes.
//
// # The idea
//
// The reservation is one large block. A request splits a block into two buddies, and splits one buddy again, until
// the parts would be too small. Offset and size of a block determine its buddy, so Free merges blocks up the ladder
// without a search.
//
// # Layout
//
//	Binary      16 = 8 + 8, 8 = 4 + 4 …        Fibonacci   13 = 8 + 5, 8 = 5 + 3 …
//	|               16              |          |            13           |
//	|       8       |       8       |          |       8       |    5    |
//	|   4   |   4   |                          |    5    |  3  |
//	| 2 | 2 |                                  |  3  | 2 |
//
//	Go heap    entries one for each MinBlock: size, side, list links or request
//	           lists   free blocks by size; a bitmap finds the first that is large enough
//	memory     | live | free | live |  free  | - - not committed - - | guard
//
// The metadata lies apart from the memory: splitting and merging touch no block, and an overflow cannot reach the
// metadata. The metadata records every address that Alloc returned, and the requested size. A double free, an interior
// or foreign pointer and a size that is wrong by one byte are therefore detected before anything changes, in every
// build. An exception is a second free after a new block of this size has started at the address: it frees the new
// block.
//
// # Use it when, and when not
//
//	use it for                                                 do not use it for
//	textures, meshes, tiles: sizes that are powers of two      sizes just above one: memory/tlsf
//	blocks aligned to their own size (Binary)                  strings and small objects: memory/slab
//	times that depend on the size of the heap, not its blocks  blocks that grow byte by byte: memory/tlsf
//	                                                           returning the end of the heap, since blocks
//	                                                           lie anywhere in it: memory/freelist packs
//
// # Cost
//
//	operation                      cost
//	Alloc                          O(log n): a bitmap search, a split for each rung
//	Alloc, aligned above MinBlock  the same; if no block fits wherever it lies, the smaller free
//	                               blocks are searched
//	Alloc that grows the heap      a system call for each step of page.Prefix, and a descent of the tree
//	Free, FreeAny                  O(log n): a merge for each rung
//	Resize                         O(log n): a split or a merge for each rung
//	Stats                          constant
//	Trim                           a descent of the tree, and the system call
//	Reset                          12 bytes cleared for each committed unit of MinBlock
//
//	overhead                       bytes
//	a block                        rounded up to a rung, see below; if it is aligned above MinBlock,
//	                               Fibonacci pads it and splits it no further
//	metadata                       12 for each reserved unit of MinBlock
//
// n is the size of the reservation in units.
//
// This command prints the waste of each ladder, in per cent of the memory in use, for the 1581 words and 71 sentences
// of this repository's LICENSE:
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
// Fibonacci sizes thus waste a quarter to two fifths less than powers of two. Fibonacci sizes waste much more than
// the finer classes of a slab, whose blocks need not merge. Words are shorter than the 16 bytes with which the other
// ladders start. The ladders of the last two rows exist in no allocator of this module, because the metadata would
// outweigh the blocks. Store words in one buffer.
//
// # Concurrency and the collector
//
// A Heap belongs to one goroutine at a time. The collector does not scan blocks, so they must contain no Go
// pointers. The metadata are slices without pointers, so the collector does not scan them either.
//
// # Source
//
// Knowlton, "A Fast Storage Allocator", CACM 8(10), 1965, for binary buddies. Hirschberg, "A Class of Dynamic Memory
// Allocation Algorithms", CACM 16(10), 1973, for Fibonacci buddies. Cranston and Thomas, "A Simplified Recombination
// Scheme for the Fibonacci Buddy System", CACM 18(6), 1975, for the two bits that find a buddy. Peterson and Norman,
// "Buddy Systems", CACM 20(6), 1977, for one recurrence for both ladders.
package buddy
