// Package slab has the size-class allocator: it rounds small requests up to one of a few dozen block sizes. Alloc is
// a pop and Free is a push on the stack of the size class.
//
// # The idea
//
// Blocks of one size are easy to manage: any free block serves any request. Therefore each size class has its own
// blocks. The metadata lies in the Go heap: a stack of free blocks per class, and a bit per 16 bytes that marks the
// start of a live block. The heap does not touch the blocks themselves. A write past the end of a block therefore
// cannot corrupt the metadata, and a Free of a cold block causes no cache miss on the block.
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
//	           class   stack of free blocks, uint32 granules   4 bytes a block
//	           tab     class by (size-1)/16                    and one per alignment from 32 to 4096
//
// A unit is 1 KiB. A span, the slab of the literature, is a run of units of one class. The first span of a class holds
// one block, or 1 KiB of blocks. Each later span has 1/32 of the units that the class has, up to 64 KiB. A later span
// gets a few more units if its blocks would otherwise leave more than an eighth of it unused. If the block size is a
// multiple of an alignment, spans and thus all blocks are aligned to it. Trim finds the spans without live blocks and
// recycles them for any class. Alloc also recycles empty spans before it commits memory, if enough blocks were freed to
// pay for the search. The live map and the other maps grow with the memory in use.
//
// # Use it when, and when not
//
//	Heap              objects of mixed sizes up to 4 KiB whose lives have no pattern:
//	                  strings, paths, AI state
//	Central, Cache    the same from several workers
//	not: pool         one hot type: both halves inline
//	not: arena        blocks that are freed together at the end of a frame or level
//	not: tlsf         blocks above a few KiB, where rounding up costs
//
// # Cost
//
//	Alloc, Free, FreeAny           constant: about 40 instructions each, behind a call
//	    overhead                   Geometric: 12.5 % of the request at most above 128
//	                               bytes, 15 bytes below
//	Resize                         constant: within the class only, the block never moves
//	Alloc, no free block           prepares up to 32 blocks; may take a span, search for one
//	                               among the vacant units, commit, and grow a stack or a map
//	    overhead                   4 bytes per block of its spans, and up to a quarter more
//	Alloc, about to commit         16 ns for each Free since the last search at most:
//	                               proportional to the free blocks and units
//	                               and, if up to 4 MiB are committed and a sixteenth is free,
//	                               also to the free blocks of up to four classes
//	Alloc, memory is refused       proportional to the blocks that were freed since the last
//	                               refusal; to the units, if spans were recycled since, or
//	                               if no refusal since then was for so small a span;
//	                               memfast: to the free blocks and units, if any was freed
//	Trim                           proportional to the free blocks and units
//	TrimStep                       a system call, and a byte read per unit
//	Sweep                          3 ns for each block that it looks at
//	Reset                          clears 10 bytes for each KiB in use
//	Cache.Alloc, Cache.Free        constant; a compare and swap in Free; the lock once in
//	                               32, more often for blocks above 1 KiB
//	    overhead                   up to 64 KiB a class and worker, or two blocks
//	metadata                       16 KiB, and 12 bytes for each KiB in use, 1.2 %, and up
//	                               to a quarter more; with a Central 2.1 bytes for each KiB
//	                               reserved, and a byte per 16 bytes, 6.3 %, in each 64 KiB
//	                               of which a Cache or a caller has blocks
//
// One live block keeps its span. A span without live blocks serves other classes after Alloc has recycled it. So with
// more than 4 MiB committed, empty spans may take as much memory as the live blocks and their spans: see below.
//
// TestFootprint prints the share of live bytes in the committed memory plus metadata (STRATA_TEST=full go test -v -run
// TestFootprint). Uniform sizes are from 16 to 4096 bytes. With logarithmic sizes, as many blocks have 16 to 32 bytes
// as 2048 to 4096 bytes:
//
//	live       uniform   logarithmic   after as many replacements as there are blocks
//	100 KiB    68 %      60 %          52 %, 51 %
//	500 KiB    78 %      78 %          71 %, 68 %
//	2 MiB      84 %      83 %          77 %, 75 %
//	5 MiB      87 %      87 %          80 %, 77 %
//	30 MiB     93 %      90 %          89 %, 87 %
//
// For the next table, ten times as many blocks were replaced, and then half of the blocks at once, three times. The
// shares are lower, because each class keeps the spans that it needed at its peak. Up to 4 MiB committed, Alloc
// recycles empty spans of the classes with most free bytes before it commits more memory. Above 4 MiB this search took
// longer than the rest of Alloc, so Alloc recycles only when half of the memory is free. Until then a class whose own
// free blocks are used up commits more memory, although spans of others may be empty.
// TestFootprint_OfHeapsThatWereReplacedTenTimes prints:
//
//	live       uniform   logarithmic   four in five up to 256 bytes
//	100 KiB    43 %      40 %          39 %
//	500 KiB    62 %      59 %          61 %
//	2 MiB      71 %      69 %          70 %
//
// # Blocks of 8 bytes
//
// A request of up to 8 bytes takes 16 bytes: there is no class of 8 bytes. Granules of 8 bytes would double the live
// map, from 8 to 16 bytes for each KiB in use, and the metadata from 1.2 % to 2.0 %. The notes of a Central would
// grow from 6.3 % to 12.5 %. Every heap would pay for its rarest size.
//
// A granule that depends on the ClassTable would make each Alloc and Free slower: a pair of 64 bytes took 6.5 to 6.9
// ns instead of 5.4 to 5.6.
//
// For smaller blocks use buddy.Heap with a MinBlock of 8, or for texts container.Strings.
//
// # What is caught
//
//	double free, interior pointer       at once, also between caches and goroutines; not after
//	                                    the address was handed out again
//	foreign, never allocated, recycled  at once
//	a size that the class never serves  at once
//	any size but the requested one      memdebug: at once
//	write after free                    memdebug: when the block is handed out again
//
// The rows with memdebug apply to debug builds: with -tags memdebug or -race. Builds with memfast omit the live bit
// and the notes. These builds miss frees of blocks that are not live, and of interior pointers that are multiples of 16
// bytes, until a class has more free blocks than exist. After a double free Alloc may return one block twice.
//
// # Concurrency and the collector
//
// A Cache notes that a block is handed out by a plain store of one byte. Others may change its neighbours in the same
// word by compare and swap at that moment. The memory model of Go does not describe this mixture of sizes; all processors
// that Go supports keep a byte and its word coherent. In debug builds the store is a compare and swap, too. So the race
// detector does not see the plain store.
//
// A Heap belongs to one goroutine at a time. A Central may be used from any goroutine, a Cache from one goroutine at
// a time. The collector does not scan blocks, so they must contain no Go pointers. The metadata contains few pointers:
// one per array, and one per 64 KiB that a Central uses. The collector therefore has almost nothing to scan.
//
// # Source
//
// Slabs: Bonwick, "The Slab Allocator: An Object-Caching Kernel Memory Allocator", USENIX 1994.
//
// Caches: Bonwick and Adams, "Magazines and Vmem", USENIX 2001. A Central from which caches take batches of blocks, and
// to which they return half of their blocks: Ghemawat and Menage, "TCMalloc: Thread-Caching Malloc", 2005.
//
// Eight classes for each doubling of the size: Leijen, Zorn and de Moura, "Mimalloc: Free List Sharding in Action", 2019.
//
// Segregated fits and class tables: Wilson, Johnstone, Neely and Boles, "Dynamic Storage Allocation: A Survey and
// Critical Review", 1995, section 3.6.
package slab
