// Package slab holds the size-class heap: blocks of any small size, freed one by one, from a
// few dozen fixed sizes that are each a matter of a pop and a push.
//
// # The idea
//
// Rounding a request up to one of a few sizes turns the hard problem, any size anywhere, into
// many easy ones, one size each. All that says which blocks are free lies in the Go heap: a
// stack of block numbers per class and a bit per 16 bytes that says where a live block starts.
// Blocks are not touched, so a write past the end of one cannot ruin the books, and freeing
// a cold block does not fetch it.
//
// # Layout
//
//	base                                                        limit      reserved
//	  | slab 0     | slab 1     | slab 2 ······ slab 3 | slab 4    |- - - - - -|
//	  | class 5    | class 2    | class 44, a span     | vacant    |
//	  |0|1|2|3|····|  |  |  |···|       |       |      |
//
//	Go heap:   owned   class byte per slab                     FreeAny and the check of the size
//	           live    a bit per 16-byte granule               double free, interior pointer
//	           notes   a byte per 16-byte granule              the same for blocks lent to caches
//	           class   stack of free blocks, uint32 granules   at home in the class, 4 bytes a block
//	           tab     class by (size-1)/16                    and one per alignment from 32 to 4096
//
// A slab is 64 KiB and aligned to it; so block k of a class that is a multiple of an alignment
// is aligned too. Classes that would waste more than an eighth of a slab use spans of up to
// eight. Emptied slabs are found by Trim, from the stacks, and serve any class.
//
// # Use it when, and when not
//
//	Heap              objects of mixed sizes up to 4 KiB whose lives have no pattern:
//	                  strings, paths, AI state
//	Central, Cache    the same from several workers
//	not: pool         one hot type: both halves inline
//	not: arena        what dies together at the end of a frame or level
//	not: tlsf         blocks above a few KiB, where rounding up costs
//
// # Cost
//
//	Alloc, Free, FreeAny           constant: about 40 instructions each, behind a call
//	    overhead                   Geometric: 12.5 % of the request at most above 128
//	                               bytes, 15 bytes below
//	Alloc, class ran dry           carves up to 32 blocks; may commit, and grow a stack
//	    overhead                   4 bytes per block of its spans, up to twice that
//	Alloc, memory is refused       proportional to the free blocks and slabs, unless
//	                               nothing was freed since the last time
//	Trim                           proportional to the free blocks and slabs
//	Reset                          clears the live map in use
//	Cache.Alloc, Cache.Free        constant; a compare and swap in Free; the lock once in
//	                               32, more often for blocks above 1 KiB
//	    overhead                   up to 64 KiB a class and worker, or two blocks
//	books                          a bit per 16 bytes reserved, 0.8 %, and 6 bytes a slab;
//	                               with a Central 8 bytes more, and a byte per 16 bytes in
//	                               the slabs that it lent blocks of, 6.3 %
//
// External fragmentation is bounded by a span per class plus what live blocks pin: one live
// block keeps its span. The benchmarks of this package print the figures, with the Go heap
// beside them.
//
// # What is caught
//
//	double free, interior pointer       at once, also between caches and goroutines
//	foreign, never carved, recycled     at once
//	a size that the class never serves  at once; to the byte only in package guard
//	write after free                    memdebug: when the block is handed out again
//
// Building with memfast drops the live bit and the notes. Then double frees and interior
// pointers that lie on 16 bytes go unseen, until a class would hold more free blocks than it
// has, and a block that is freed twice may be handed out twice.
//
// # Concurrency and the collector
//
// A Heap belongs to one goroutine at a time. A Central may be used from any, a Cache from one.
// Blocks lie off the Go heap and must hold no Go pointers. The books hold no pointer but the
// heads of their arrays and one to the notes of each slab, so the collector has next to
// nothing to scan.
//
// # Source
//
// Bonwick, "The Slab Allocator: An Object-Caching Kernel Memory Allocator", USENIX 1994, for
// slabs; Bonwick and Adams, "Magazines and Vmem", USENIX 2001, for the caches; Wilson,
// Johnstone, Neely and Boles, "Dynamic Storage Allocation: A Survey and Critical Review",
// 1995, section 3.6, for segregated fits and the ladders.
package slab
