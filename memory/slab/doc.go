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
//	  | unit 0     | unit 1     | unit 2 ······ unit 5 | unit 6    |- - - - - -|
//	  | class 5    | class 2    | class 40, a span     | vacant    |
//	  |0|1|2|3|····|  |  |  |···|       |       |      |
//
//	Go heap:   owned   class byte per unit                     FreeAny and the check of the size
//	           live    a bit per 16-byte granule               double free, interior pointer
//	           notes   a byte per 16-byte granule              the same for blocks lent to caches
//	           class   stack of free blocks, uint32 granules   at home in the class, 4 bytes a block
//	           tab     class by (size-1)/16                    and one per alignment from 32 to 4096
//
// A unit is 1 KiB, and a span, the slab of the literature, a run of them. The first span of a
// class holds a block, or 1 KiB of blocks; the next ones are 1/32 of what the class has, up to
// 64 KiB, and a few units more where blocks would leave an eighth of it unused. A span of blocks
// that are a multiple of an alignment starts at a multiple of it, and so every block does.
// Emptied spans are found from the stacks, by Trim, and before more memory is committed if enough
// was freed to pay for the search; they serve any class. The maps grow with what is in use.
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
//	Resize                         constant: within the class only, the block never moves
//	Alloc, class ran dry           carves up to 32 blocks; may take a span, search for one
//	                               among the vacant units, commit, and grow a stack or a map
//	    overhead                   4 bytes per block of its spans, and a quarter of that
//	Alloc, about to commit         16 ns for each Free since the last search at most:
//	                               proportional to the free blocks and units
//	                               up to 4 MiB, with a sixteenth free, the free blocks of up
//	                               to four classes as well
//	Alloc, memory is refused       proportional to the free blocks and units, unless
//	                               nothing was freed since the last time
//	Trim                           proportional to the free blocks and units
//	Reset                          clears 10 bytes for each KiB in use
//	Cache.Alloc, Cache.Free        constant; a compare and swap in Free; the lock once in
//	                               32, more often for blocks above 1 KiB
//	    overhead                   up to 64 KiB a class and worker, or two blocks
//	books                          16 KiB, and 12 bytes for each KiB in use, 1.2 %, and a
//	                               quarter of that; with a Central 2.2 bytes for each KiB
//	                               reserved, and a byte per 16 bytes in the 64 KiB that it
//	                               lent blocks of, 6.3 %
//
// External fragmentation is bounded by a span per class plus what live blocks pin: one live
// block keeps its span. The benchmarks of this package print the figures, with the Go heap
// beside them, and TestFootprint what share of the committed memory and the books is live, of
// uniform sizes from 16 to 4096 bytes and of logarithmic ones, as many from 16 to 32 as from
// 2048 to 4096:
//
//	live       uniform   logarithmic   after as many replacements as there are blocks
//	100 KiB    70 %      62 %          53 %, 53 %
//	500 KiB    79 %      79 %          72 %, 68 %
//	2 MiB      84 %      84 %          78 %, 75 %
//	5 MiB      88 %      87 %          80 %, 78 %
//	30 MiB     92 %      91 %          89 %, 87 %
//
// After ten times as many, and three times half of the blocks died and others came, it is less:
// each class keeps what it needed at most. Up to 4 MiB committed the empty spans of the classes
// with most free bytes serve the others before more is committed; above, where that took longer
// than all the rest, when half is free. TestFootprint_OfHeapsThatWereReplacedTenTimes prints:
//
//	live       uniform   logarithmic   four in five up to 256 bytes
//	100 KiB    44 %      41 %          39 %
//	500 KiB    62 %      59 %          61 %
//	2 MiB      71 %      69 %          71 %
//
// # Blocks of 8 bytes
//
// There are none: a request of up to 8 bytes takes 16. A granule of 8 bytes would double the live
// map, from 8 to 16 bytes for each KiB in use (the books from 1.2 % to 2.0 %), and the notes of a
// Central, from 6.3 % to 12.5 %, for every heap and the rarest size. A granule that is chosen by
// the ladder makes a shift by a variable of one by a constant, four times in a pair: a pair of 64
// bytes took 6.5 to 6.9 ns instead of 5.4 to 5.6, one of 16 to 512 bytes 9.2 to 9.9 instead of 8.7
// to 8.9 (three placements of the code, the lowest of 12 interleaved rounds each; the constant
// against itself differed by 3 % at most but for one placement, where it was slower). A ladder from
// 8 bytes is buddy.Heap with a MinBlock of 8, whose unit has ever been a variable, and for texts
// container.Strings, from 1 byte.
//
// # What is caught
//
//	double free, interior pointer       at once, also between caches and goroutines
//	foreign, never carved, recycled     at once
//	a size that the class never serves  at once
//	any size but the requested one      memdebug: at once
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
