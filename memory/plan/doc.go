// Package plan places buffers with known lifetimes into one block, before the program runs or while a level loads,
// and provides the memory for them.
//
// # The idea
//
// The passes of a frame, or of a generator, need the same buffers every time, and each buffer's last pass is known.
// So the offsets can be computed once. Buffers that never live at the same time share bytes, and at run time an
// allocation is one addition.
//
// # Layout
//
//	bytes
//	Total ^ +-----------+      +--------+
//	      | |  sorted   |      | indices|         every rectangle is a buffer:
//	      | +----+------+--+---+--------+         as high as its size,
//	      | |keys| scratch |  vertices  |         as wide as its lifetime
//	      | +----+---------+------------+
//	      | |      visibility list |
//	    0 +-+----------------------+------>  logical time: pass 0, 1, 2 …
//
// [Fast] and [Exact] make a [Plan]; [Read] and [Load] read a Plan from a file; an [Arena] provides the memory. Exact,
// Read and Load verify the plan; Fast verifies the plan in debug builds.
//
// # Use it when, and when not
//
// Use it for buffers that are declared: render passes, level generation, decoding stages. Use arena.Frames if sizes
// or lifetimes are only known at run time. Compute plans with Exact when the assets are built, store the plans, and
// Load them in the game. Use Fast if the sizes are only known when a level loads.
//
// # Cost
//
//	operation           cost
//	Fast                at most 16 attempts, each O(log n) strips of addresses a buffer if alignments
//	                    leave few gaps, and bounded otherwise: 3 ms for 400 buffers, 1 s for
//	                    100,000 (fewer attempts there)
//	FastWithin          one attempt if that fits
//	Exact               until it meets the load bound or the capacity, proves its plan minimal, or
//	                    reaches the limit; 10 to 150 MiB of Go heap meanwhile, more for larger sets
//	Verify, Read, Load  O(n log n), half a microsecond a buffer
//	Arena.Get           one bounds check, one load and one addition, inlined; beyond a gap in the
//	                    IDs a search of log2 n comparisons
//	overhead            8 bytes a buffer in the Go heap for the offsets, and the Plan
//
// No plan can be smaller than [Plan.Bound], the largest load of any moment. The problem is NP-hard, and the plans of
// Fast can exceed the bound by any factor. On the public instances of MiniMalloc (154 to 454 buffers) the rule of
// inference engines needs 1.28 to 1.41 times the bound, and Fast 1.12 to 1.41 times. Exact reaches the published
// capacity on ten of the eleven instances, each within 100,000 steps and about a second. On the eleventh instance,
// named I, Exact is usually 2 to 6 % above the capacity after five seconds. On four larger instances of idealloc (816
// to 62,185 buffers) Exact reaches the bound in seconds. On two more (18,692 and 28,526 buffers) Exact stays 3.3 and
// up to 2.5 % above the bound. These figures are from a shared machine of 3.2 GHz. They are printed by
//
//	go run ./memory/plan/internal/hard [file.csv ...]
//
// # Concurrency and the collector
//
// A Plan never changes and is safe for concurrent use. An Arena belongs to one goroutine at a time. In builds without
// checks several goroutines may call Get and Slice as long as no other method runs. Blocks lie outside the Go heap
// and must contain no Go pointers; [Slice] requires a [memory.Type] as a proof.
//
// # Source
//
// Both rules of Fast: Pisarchyk and Lee, "Efficient memory management for deep neural net inference", MLSys workshop
// 2020.
//
// The order by the load around a buffer, there called contention: Maas et al., "TelaMalloc: efficient on-chip memory
// allocation for production machine learning accelerators", ASPLOS 2023.
//
// The segment tree of occupied addresses: Bentley, "Solutions to Klee's rectangle problems", 1977. The two strips of
// addresses a node are our own.
//
// Most of the search: Moffitt, "MiniMalloc: a lightweight memory allocator for hardware-accelerated machine
// learning", ASPLOS 2023. It considers left-justified plans only, places the lowest buffer first, reasons by sections
// of time, divides where no lifetime crosses, and tries several static orders. One rule differs: instead of the
// canonical order, a buffer that is not placed at its lowest offset is lifted. This rule proves more. It also makes
// states equal that were reached in different ways, so a table of failed states can be used.
//
// Learning an order from the sections that did not fit: Boussemart et al., "Boosting systematic search by weighting
// constraints", ECAI 2004. The lengths of runs: Luby, Sinclair and Zuckerman, "Optimal speedup of Las Vegas
// algorithms", 1993. Placing the buffers that end too high again: squeaky wheel optimization, Joslin and Clements,
// JAIR 1999.
//
// Not used: boxing, Buchsbaum et al., "OPT versus LOAD in dynamic storage allocation", STOC 2003. Lamprakos et al.
// built it into idealloc for sets of a million ("Futureproof static memory planning", arXiv 2504.04874, 2025). Here
// Fast places large sets, of at most [Count] buffers.
package plan
