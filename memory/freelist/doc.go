// Package freelist is the variable-size heap that can be read in one sitting: one list of
// free memory, four ways to choose from it, and free neighbours merged at once.
//
// # The idea
//
// What is free is a list of runs in the order of addresses. A request takes the first run that
// is large enough, the next one after the last, the smallest, or the largest ([Policy]), and leaves the
// rest. A block that comes back finds its neighbours by bisection and merges with them.
//
// # Layout
//
//	Go heap    runs   {off, size} {off, size} …       free memory, ascending, 8 bytes each
//	           live   | n+1 0 0 | 0 0 | n+1 …         by granule: bytes requested, at starts
//	memory            | live    | free | live | live |  free  | - - not committed - - | guard
//
// The books lie apart from the memory, and there is nothing in them to disagree: a block has
// no header and no links. A search reads consecutive words and touches no block. The live map
// tells a live block's start from every other address and remembers the request to the byte,
// so a double free, an interior or foreign pointer and a size that is wrong by one are all
// found before anything changes, in every build.
//
// # Use it when, and when not
//
//	use it for                                             not for
//	tools, loaders, editors: up to some hundred free runs  thousands of blocks that come and go: memory/tlsf
//	a heap that packs tightly and gives its end back       a bound on every single allocation: memory/tlsf
//	comparing policies on a trace of your own              many small objects: memory/slab, memory/pool
//
// # Cost
//
//	operation                     cost
//	Alloc, FirstFit and NextFit   the runs that are too small and lie in front: O(n)
//	Alloc, BestFit                all runs, unless one fits exactly: O(n)
//	Alloc, WorstFit               all runs: O(n)
//	Alloc that grows the heap     all runs, and a system call per 256 KiB
//	Free, FreeAny, Resize         O(log n), and 8 bytes moved per run behind where runs come or go
//	Stats                         O(n), for LargestFree
//	Reset                         4 bytes cleared per committed granule
//
//	overhead                      bytes
//	a block                       rounded up to a granule, of 64 bytes unless Config says otherwise
//	books                         4 per granule reserved, 8 per free run
//
// n is the number of free runs, which is at most one more than that of live blocks, and about
// half of it in a heap that has been used for long (Knuth's fifty-per-cent rule). The
// benchmarks of this package print the times by policy, with the Go heap beside them, and the
// memory that each policy needs. A random block of so many is replaced by one of another size
// (go test -bench Replace; AMD EPYC, Go 1.26.8, two cores busy with other work as well: the
// lowest of eight short rounds, and between which figures the memory lay):
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
// One goroutine at a time. Blocks lie off the Go heap and must hold no Go pointers. The books
// are slices without pointers, so the collector does not scan them either.
//
// # Source
//
// Knuth, "The Art of Computer Programming", volume 1, section 2.5 (1968), for the first three
// policies, the roving start of NextFit and the fifty-per-cent rule; Wilson, Johnstone, Neely
// and Boles, "Dynamic Storage Allocation: A Survey and Critical Review", 1995, section 3.5,
// for why the list is kept by address, and for worst fit, which it finds as bad as it is here.
package freelist
