// Package particles moves and draws a million short-lived specks: sparks, smoke, embers,
// debris.
//
// # The idea
//
// A particle is a row of columns, and columns are walked, never searched: Update streams
// through what moves, the dead are replaced by the last row, and Build turns what is in
// sight into quads. What changes evenly over a life (colour, size, rotation) is worked out
// from the age when it is drawn, so that a step touches 41 bytes a particle.
//
// # Layout
//
//	          row 0   1   2        n-1    room               max
//	kind      | k | k | k | ...  | k | free | not committed | guard       1 byte
//	tint      | c | c | c | ...                                           1
//	x y vx vy | f | f | f | ...                           four columns, each 4
//	left      | f | f | f | ...   seconds to live                         4
//	birth     | inv size rot spin | ...                                  16
//
//	Emitter --Emit--> columns --Update--> columns --Build--> []Vertex, []uint32
//	Kind -----Register--> ramp of 64 colours and sizes ---------^
//
// Columns are reserved for Config.Capacity, are committed in steps of 16,384 rows, 38 bytes
// each, and never move. Where the budget ends there are fewer particles, and Stats says so;
// nothing else fails.
//
// # Use it when, and when not
//
// For what lives briefly, is never looked up and touches nothing. What has a name or is hit
// by bullets is an entity. Rows have no lasting order: where smoke must lie under sparks,
// use two Systems and build them one after the other. Additive kinds need no order.
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
// AMD EPYC, Go 1.26.8, two shared cores under little other load, two runs of each: print
// them with go test -bench . here. The baseline pays for one more copy of what is emitted.
// Where other programs fill the memory bus all of it takes three to four times as long, and
// at a million the structures were ahead in some of the runs (5.3–6.2 for 8.0–9.0). So the
// columns are not chosen for speed alone: they never move, and they end at a budget.
//
// # Concurrency and the collector
//
// One goroutine at a time. Rows lie off the Go heap and hold no Go pointers; kinds and
// their ramps are books in the Go heap. Emit, Update, Build and Hash allocate nothing.
//
// The simulation has the same bits on every architecture for the same seed and calls:
// products are rounded by themselves, sines are its own, the clock is not asked. A budget
// that refuses memory changes it, as it changes how many particles there are. The quads may
// differ in their last bits.
//
// # Source
//
// Reeves, "Particle Systems: A Technique for Modeling a Class of Fuzzy Objects", ACM TOG
// 2(2), 1983; Latta, "Building a Million Particle System", GDC 2004, for what need not be
// stored; Vigna, "An experimental exploration of Marsaglia's xorshift generators,
// scrambled", 2016, for the random numbers.
package particles
