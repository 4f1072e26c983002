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
//	Fast                O(n²): each buffer is held against those placed before it
//	Exact               until it meets the load bound, proves its plan minimal, or the limit
//	Verify, Read, Load  O(n log n), and 4 bytes moved per buffer alive at each birth and death
//	Arena.Get           one bounds check, one load and one addition, inlined
//	overhead            8 bytes a buffer in the Go heap for the offsets, and the Plan
//
// No plan can be smaller than [Plan.Bound], the largest load of any moment. Fast has no
// constant bound on its distance from it; the tests of this package print what both modes
// reach on instances whose optimum is known. The problem is NP-hard.
//
// # Concurrency and the collector
//
// A Plan never changes and may be shared. An Arena belongs to one goroutine at a time, except
// that several may call Get and Slice in builds without checks while nobody closes it. Blocks
// lie off the Go heap and hold no Go pointers; [Slice] demands the proof, a [memory.Type].
//
// # Source
//
// Largest-first best fit: Pisarchyk and Lee, "Efficient memory management for deep neural net
// inference", MLSys workshop 2020. The search takes from Moffitt, "MiniMalloc: a lightweight
// memory allocator for hardware-accelerated machine learning", ASPLOS 2023, that only
// left-justified plans matter, the reasoning by sections of time, the cut into independent
// components and several static orders tried in turn; and adds the one-machine bound with
// release times of Jackson, "Scheduling a production line to minimize maximum tardiness", 1955,
// branching on the section with the fewest choices weighted by past failures (Boussemart et al.,
// "Boosting systematic search by weighting constraints", ECAI 2004), a table of failed states,
// and the restarts of Luby, Sinclair and Zuckerman, "Optimal speedup of Las Vegas algorithms",
// 1993. On approximation: Buchsbaum et al., "OPT versus LOAD in dynamic storage allocation",
// STOC 2003.
package plan
