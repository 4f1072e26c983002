// Package freelist is a simple heap for blocks of any size: one list of free memory, four policies to choose from it, and
// immediate coalescing of free neighbours.
//
// # The idea
//
// Free memory is a list of runs in the order of addresses. Depending on the [Policy], a request takes the first run
// that is large enough, the next one behind the newest block, the smallest, or the largest. The rest of the run stays
// free. A freed block finds its neighbours by binary search and merges with them.
//
// # Layout
//
//	Go heap    runs   {off, size} {off, size} …       free memory, ascending, 8 bytes each
//	           live   | n+1 0 0 | 0 0 | n+1 …         by granule: bytes requested, at starts
//	memory            | live    | free | live | live |  free  | - - not committed - - | guard
//
// The metadata lies apart from the memory: a block has no header and no links. A search reads consecutive words and
// touches no block. The live map records where live blocks start and their requested sizes. A double free, an interior
// or foreign pointer and a size that is wrong by one byte are therefore detected before anything changes, in every
// build. An exception is a second free after a new block of this size has started at the address: it frees the new
// block.
//
// # Use it when, and when not
//
//	use it for                                             do not use it for
//	tools, loaders, editors: up to some hundred free runs  thousands of blocks that are replaced: memory/tlsf
//	a heap that packs tightly and can be trimmed           a bound on every single allocation: memory/tlsf
//	comparing policies on a trace of your own              many small objects: memory/slab, memory/pool
//
// # Cost
//
//	operation                     cost
//	Alloc, FirstFit and NextFit   the runs that are too small, up to the first large enough: O(n)
//	Alloc, BestFit                all runs, unless one fits exactly: O(n)
//	Alloc, WorstFit               all runs: O(n)
//	Alloc that grows the heap     all runs, and a system call for each step of page.Prefix
//	Free, FreeAny, Resize         O(log n), and 8 bytes moved for each run behind one that is added or removed
//	Stats                         O(n), for LargestFree
//	Reset                         4 bytes cleared for each committed granule
//
//	overhead                      bytes
//	a block                       rounded up to a granule, by default of 64 bytes
//	metadata                      4 for each reserved granule, 8 for each free run
//
// n is the number of free runs. It is at most the number of live blocks plus one. In a heap that has been used for a
// long time, n is about half the number of live blocks (Knuth's fifty-per-cent rule). In the table a random block is
// replaced by a block of another size. A time is the lowest of eight short rounds of go test -bench Replace; the
// memory is the range of these rounds. They ran on an AMD EPYC with Go 1.26.8 and two cores that other processes use
// as well.
//
//	                      4,000 of 16 B to 4 KiB     256 of 4 to 256 KiB
//	            ns a pair   committed/requested     ns a pair   committed/requested
//	FirstFit          525   1.13–1.14                     152   1.28–1.37
//	NextFit           386   1.26–1.28                     155   1.40–1.54
//	BestFit           928   1.07–1.08                     394   1.19–1.35
//	WorstFit        2,230   1.62–1.64                     252   1.62–1.76
//
// # Concurrency and the collector
//
// A Heap belongs to one goroutine at a time. The collector does not scan blocks, so they must contain no Go
// pointers. The metadata are slices without pointers, so the collector does not scan them either.
//
// # Source
//
// Knuth, "The Art of Computer Programming", volume 1, section 2.5 (1968), for the first three policies, the roving
// start of NextFit and the fifty-per-cent rule. Wilson, Johnstone, Neely and Boles, "Dynamic Storage Allocation: A
// Survey and Critical Review", 1995, section 3.5, for the order by address. This survey also finds that worst fit is
// bad.
package freelist
