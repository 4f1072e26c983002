// Package tlsf has the two-level segregated fit allocator: blocks of any size, allocated and freed
// in constant time, with immediate coalescing.
//
// # The idea
//
// Free blocks are on lists by size, 16 lists per doubling. One bitmap has a bit per doubling. For each doubling a
// second bitmap has a bit per list. The two bitmaps find the first list whose blocks are all large enough. So the
// cost of an Alloc depends neither on the number of blocks nor on the size of the heap.
//
// # Layout
//
//	metadata   bitmaps -> bins -> descriptors of blocks (32 bytes each, linked by index)
//	                               ^
//	           granule map         | start of a live block -> its descriptor
//	memory     | live | free | live | live |  free  | - - not committed - - | guard
//
// The metadata is separate from the memory. A search or a merge touches no block, and an overflow
// cannot corrupt the metadata. The map distinguishes the start of a live block from every other
// address. So every build detects a double free, an interior or foreign pointer, and a size that is
// wrong by one byte, before anything changes. An exception is a second free after a new block of this
// size has started at the address: it frees the new block.
//
// # Use it when, and when not
//
//	use it for                                             not for
//	blocks above 4 KiB: assets, staging buffers, columns   many small objects: memory/slab, memory/pool
//	a bound on every single allocation                     data freed together: memory/arena
//	sizes that are not known in advance                    sizes and lifetimes that are: memory/plan
//
// # Cost
//
//	operation                  cost
//	Alloc                      constant: two bitmap searches, one split; for more metadata a system call
//	Alloc that finds nothing   a list searched, 64 blocks deep, and the ranges that TrimStep has returned;
//	                           then a system call per Step, or per range that it takes back
//	Free, FreeAny              constant: at most two merges
//	Resize                     constant; at the end of a pool a system call per Step; to grow after a
//	                           TrimStep, also as Alloc that finds nothing
//	Stats                      constant; with quick stacks, proportional to what waits
//	Trim                       what waits, and a system call per pool and per range that TrimStep has
//	                           returned behind the last live block of the pool
//	TrimStep                   constant, and a system call
//	Reset                      4 bytes cleared per committed granule
//
//	overhead                   bytes
//	a block                    rounded up to a granule, of 256 bytes unless Config says otherwise
//	metadata                   4 per granule committed, 32 per block live or free, and space to grow
//
// So the default granule suits blocks above 4 KiB. Rounding wastes on average 3 % of a block of 4 KiB, but half of a
// block of 128 bytes. See [Config.Granule] for smaller blocks.
//
// The descriptors and the granule map lie in the Go heap up to 64 KiB each. Longer ones lie in a reservation of the
// system for as many as the pools can need ([page.Table]). They grow by a commit and without a copy, so the slowest
// Alloc does not depend on the size of the heap. There are exceptions: 32-bit systems, sources that are not based on
// page.OS (as with -race and in the browser), and a system that refuses addresses. There Alloc copies the descriptors
// to an array of twice the size, and the map to one that is a quarter larger. For a GiB in blocks of 512 bytes such a
// copy took 36 ms, instead of less than 1 ms. BenchmarkSlowestAlloc prints the slowest Alloc of a heap that grows.
//
// Rounding wastes at most a granule a block. With QuickBytes it wastes up to 1/16 of the block more. The search by list
// misses free blocks that are less than 1/16 larger than the request. Before the heap grows, Alloc also searches the
// lists of these sizes, at most 64 blocks deep. The README.md of this folder shows that the number of instructions does
// not grow with the heap.
//
// If a block grows by Resize, the free memory after the block is kept for its growth. Another request uses this
// memory only if no other free block is large enough, and takes the far half first. If Resize fails, the block that
// replaces the old one gets space to grow if possible. TestRoom_ABlockThatGrowsAmongSmallOnesMovesOnce grows a block
// from 4 to 600 KiB by steps of 128 bytes, among small blocks, with a Step of 16 KiB. The block moved once, and 624
// KiB were committed. Without the kept memory it moved 260 times, and 1,776 KiB were committed.
//
// [Config.QuickBytes] trades footprint for time: up to QuickBytes bytes of freed blocks wait, not coalesced, for a
// request of their size. Requests are rounded up to the sizes of lists, unless only the rounding would make the
// heap grow. Trim, Stats, and an Alloc for which the heap cannot grow coalesce the waiting blocks. Only these calls
// take time in proportion to the waiting blocks.
//
// # Concurrency and the collector
//
// One goroutine at a time may call a Heap. The collector does not scan blocks, so they must contain no Go
// pointers. The metadata contains no pointers, so the collector does not scan it either. Call Close: the metadata of a
// heap that becomes garbage without it stays in memory, as its blocks do.
//
// # Source
//
// Masmano, Ripoll, Crespo and Real, "TLSF: a new dynamic memory allocator for real-time
// systems", ECRTS 2004, sections 4 and 5.
//
// Deferred coalescing: Weinstock's "quick fit" (1976).
//
// Space kept at the end of a pool: wilderness preservation, Korn and Vo, "In Search of a Better
// Malloc", USENIX 1985.
package tlsf
