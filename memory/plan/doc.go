// Package plan places buffers whose lifetimes are known in advance into one block, before the
// program runs or while a level loads, and runs the result.
//
// # The idea
//
// The passes of a frame, or of a generator, need the same buffers every time, and each dies at
// a known pass. So the places can be computed once, buffers that never live together share
// bytes, and at run time an allocation is one addition.
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
// [Fast] and [Exact] make a [Plan]; [Read] and [Load] take one from a file; an [Arena] backs it
// with memory. Exact, Read and Load verify their plan; for Fast a debug build does.
//
// # Use it when, and when not
//
// Use it for buffers that are declared: render passes, level generation, decoding stages. Use
// arena.Frames where sizes or lifetimes are known only when they happen. Compute plans with
// Exact when the assets are built, store them, and Load them; compute them with Fast where the
// sizes are only known at level load.
//
// # Cost
//
//	operation           cost
//	Fast                16 attempts at most, each O(log n) strips of addresses a buffer where
//	                    alignments leave few gaps, and bounded where they leave many: 3 ms
//	                    for 400 buffers, 1 s for 100,000 (fewer attempts there)
//	FastWithin          one attempt where there is room
//	Exact               until it meets the load bound or the capacity, proves its plan minimal, or
//	                    the limit, with an error where Limits.Time is too short for any plan;
//	                    10 to 150 MiB of Go heap meanwhile, the more for larger sets
//	Verify, Read, Load  O(n log n), half a microsecond a buffer
//	Arena.Get           one bounds check, one load and one addition, inlined; behind a gap in the
//	                    IDs a search of log2 n comparisons
//	overhead            8 bytes a buffer in the Go heap for the offsets, and the Plan
//
// No plan can be smaller than [Plan.Bound], the largest load of any moment. The problem is
// NP-hard, and Fast has no constant bound on its distance from it. On the challenging public
// instances that come with MiniMalloc (154 to 454 buffers) it needs 1.12 to 1.41 times the bound,
// the rule that inference engines use 1.28 to 1.41, and Exact meets the capacity that they are
// published with on ten of eleven, each within 100,000 steps and a second or so; on the other, I,
// it is 2 to 6 % above it after five seconds, now and then less. On four larger ones that idealloc
// comes with (816 to 62,185 buffers) Exact reaches the bound in seconds; on two more (18,692 and
// 28,526) it stays 3.3 and up to 2.5 % above. These figures, from a shared machine of 3.2 GHz, are printed by
//
//	go run ./memory/plan/internal/hard [file.csv ...]
//
// # Concurrency and the collector
//
// A Plan never changes and may be shared. An Arena belongs to one goroutine at a time, except
// that several may call Get and Slice in builds without checks while nobody closes it. Blocks
// lie off the Go heap and hold no Go pointers; [Slice] demands the proof, a [memory.Type].
//
// # Source
//
// The rule of inference engines, largest first at the lowest free offset, and best fit by
// address: Pisarchyk and Lee, "Efficient memory management for deep neural net inference", MLSys
// workshop 2020. The order by the load around a buffer: Maas et al., "TelaMalloc: efficient
// on-chip memory allocation for production machine learning accelerators", ASPLOS 2023, who call
// it contention. What is occupied is kept in a segment tree (Bentley, "Solutions to Klee's
// rectangle problems", 1977) with two strips of addresses a node, of our own.
//
// The search takes from Moffitt, "MiniMalloc: a lightweight memory allocator for
// hardware-accelerated machine learning", ASPLOS 2023, that only left-justified plans matter, that
// the lowest is placed first, the reasoning by sections of time, the division where no lifetime
// crosses any more, and several static orders tried in turn. In place of its rule of canonical
// order, what does not lie where it might is lifted, which proves more and makes states equal that
// were reached in different ways, so that a table of failed states applies; an order is learned
// from the sections that did not fit (after Boussemart et al., "Boosting systematic search by
// weighting constraints", ECAI 2004); and runs are as long as Luby, Sinclair and Zuckerman,
// "Optimal speedup of Las Vegas algorithms", 1993, advise. Placing anew what ends too high is
// squeaky wheel optimization: Joslin and Clements, JAIR 1999. The boxing of Buchsbaum et al., "OPT
// versus LOAD in dynamic storage allocation", STOC 2003, which Lamprakos et al. built into idealloc
// ("Futureproof static memory planning", arXiv 2504.04874, 2025) for sets of a million, is not done
// here: these sets are placed by Fast.
package plan
