// Package particles simulates and draws up to 16 million short-lived particles: sparks, smoke,
// embers, debris.
//
// # The idea
//
// A particle is a row in a structure of arrays. Update iterates over the columns and replaces each dead row by the
// last row. Build turns visible rows into quads. Build also computes colour, size and rotation, which are functions
// of the age and of values from birth. So Update reads only 21 bytes of a live particle and writes 20.
//
// # Layout
//
//	          row 0   1   2        n-1    usable             max
//	kind      | k | k | k | ...  | k | free | not committed | guard       1 byte
//	tint      | c | c | c | ...                                           1
//	x y vx vy | f | f | f | ...                           four columns, each 4
//	left      | f | f | f | ...   seconds to live                         4
//	birth     | inv size rot spin | ...                                  16
//
//	Emitter --Emit--> columns --Update--> columns --Build--> []Vertex, []uint32
//	Kind -----Register--> ramp of 64 colours and sizes ---------^
//
// New reserves address space for Config.Capacity rows. Emit commits memory for about 16,384 rows of 38 bytes at a time.
// If the source refuses this, Emit commits fewer rows, at least 3,072: these take 176 KiB, because each column has
// whole granules. With a budget below that, no particle is emitted, unless the Capacity is smaller. Rows never move to
// another address when the columns grow. If the source refuses memory, fewer particles are emitted, and Stats counts
// the missing particles.
//
// # Use it when, and when not
//
// Use it for objects that live for seconds, are never looked up and do not collide. If other code refers to an
// object, make the object an entity instead. The order of rows changes: if smoke must lie under sparks, use two
// Systems and build the System of the smoke first. Additive kinds need no order.
//
// The example Manager has a System within a tier, with a budget, a tag and a saved state.
//
// # Cost
//
//	operation                                                      a particle, ns
//	-------------------------------------------------------------  ----------------------------------------
//	Update, with removing and emitting again 1.6 % a step: 10,000  2.0–2.1
//	the same: 100,000                                              2.4–2.5
//	the same: 1,000,000                                            2.5–3.0
//	the same over structures in the Go heap                        2.6, 2.5–2.7, 3.0–3.8
//	Build, in sight: 10,000                                        10 upright, 11–19 turned, 13 stretched
//	Build, in sight: 100,000                                       16–42, bound by writing 216 bytes a quad
//	Build, in sight: 1,000,000                                     15–25
//	Build, out of sight                                            4–6
//	Emit                                                           21; 34 in a Disc or Ring
//	Hash                                                           10
//
// AMD EPYC, Go 1.26.8, two shared cores under little other load, two runs of each. Measure the times with go test
// -bench . in this folder. The baseline copies each emitted particle once more. Under load on the memory bus every
// row takes three to four times as long. A million structures were then faster in some runs (5.3–6.2 compared with
// 8.0–9.0). Speed is not the only reason for columns: columns never move, and they have a budget.
//
// # Concurrency and the collector
//
// A System is for one goroutine at a time. Rows lie in memory of the page source, normally off the Go heap, and
// contain no Go pointers. Kinds and their ramps are metadata on the Go heap. Update, Build and Hash allocate nothing
// on the Go heap. Emit allocates only the error of a refused commit.
//
// The same seed, Capacity and calls give the same bits on every architecture. Each product is rounded separately,
// sines are computed by this package, and no clock is read. If the source refuses memory, there are fewer particles,
// and the bits differ. The last bits of vertices may differ between architectures.
//
// # Source
//
// Reeves, "Particle Systems: A Technique for Modeling a Class of Fuzzy Objects", ACM TOG
// 2(2), 1983. Latta, "Building a Million Particle System", GDC 2004: which values need not be
// stored. Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled",
// 2016: the random numbers.
package particles
