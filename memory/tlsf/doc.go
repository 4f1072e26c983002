// Package tlsf is two-level segregated fit: blocks of any size, allocated and freed in
// constant time, with free neighbours merged at once.
//
// # The idea
//
// Free blocks hang on lists by size, 16 lists per doubling. A bitmap over the doublings and
// one over the lists of each find the first list whose blocks are all large enough, so that
// neither the number of blocks nor the size of the heap appears in the cost.
//
// # Layout
//
//	Go heap    bitmaps -> bins -> descriptors of blocks (32 bytes each, linked by index)
//	                               ^
//	           granule map         | start of a live block -> its descriptor
//	memory     | live | free | live | live |  free  | - - not committed - - | guard
//
// The books lie apart from the memory: a search or a merge touches no block, an overflow
// cannot reach them, and the map tells a live block's start from every other address. So a
// double free, an interior or foreign pointer and a size that is wrong by one byte are all
// found before anything changes, in every build.
//
// # Use it when, and when not
//
//	use it for                                             not for
//	blocks above 4 KiB: assets, staging buffers, columns   many small objects: memory/slab, memory/pool
//	a bound on every single allocation                     data that dies together: memory/arena
//	sizes that are not known in advance                    sizes and lifetimes that are: memory/plan
//
// # Cost
//
//	operation                  cost
//	Alloc                      constant: two bitmap searches, one split
//	Alloc that finds nothing   a list searched, 64 blocks deep, and 16 rooms; then a system call per Step
//	Free, FreeAny              constant: at most two merges
//	Resize                     constant; at the end of a pool a system call per Step
//	Stats                      constant; with quick stacks, proportional to what waits
//	Trim                       constant, what waits, and a system call per pool
//	Reset                      4 bytes cleared per committed granule
//
//	overhead                   bytes
//	a block                    rounded up to a granule, of 256 bytes unless Config says otherwise
//	books                      4 per granule committed, 32 per block live or free
//
// So the default suits blocks above 4 KiB: rounding wastes 3 % of the smallest of them on average,
// but half of a block of 128 bytes. [Config.Granule] says what to name for smaller ones, and what it costs.
//
// Internal fragmentation is less than a granule a block. Good fit overlooks free blocks that
// are less than 1/16 larger than the request; before the heap grows, the bin of the exact size
// is searched too, at most 64 blocks deep. README.md shows that the number of instructions
// does not grow with the heap, and how to repeat the measurement; the benchmarks of this
// package print the times, with the Go heap beside them.
//
// A block that grows by Resize keeps what is free behind it as its room: other requests take from
// there only when nothing else is large enough, and from its far half. A block that must move, since
// Resize could not help it, is put where it can grow on. So a block that grew from 4 to 600 KiB by
// steps of 128 bytes with a Step of 16 KiB, among small blocks that came and went, moved once, and
// 624 KiB were committed (TestRoom_ABlockThatGrowsAmongSmallOnesMovesOnce); without rooms it moved
// 260 times and left 1,776 KiB.
//
// [Config.QuickBytes] trades footprint for time: freed blocks then wait unmerged for a request
// of their bin, up to that many bytes, and requests are rounded up to whole bins where that needs
// no more memory. What waits is merged by Trim and Stats and before an Alloc fails, and only
// that costs more than constant time.
//
// # Concurrency and the collector
//
// One goroutine at a time. Blocks lie off the Go heap and must hold no Go pointers. The books
// are slices without pointers, so the collector does not scan them either.
//
// # Source
//
// Masmano, Ripoll, Crespo and Real, "TLSF: a new dynamic memory allocator for real-time
// systems", ECRTS 2004, sections 4 and 5; deferred coalescing is Weinstock's "quick fit"
// (1976); rooms at the end of a pool are the wilderness preservation of Korn and Vo, "In Search of a
// Better Malloc", USENIX 1985.
package tlsf
