// Package engine is a game loop without a window: a fixed step, ordered systems, input as data, deterministic
// arithmetic and a hash of the state. Package engine contains no rules of a game and imports no graphics. Package
// engine/stream loads files during play.
//
// # The idea
//
// The simulation is a function of a seed and of one [Input] per tick. It must not depend on the wall clock, devices,
// files or the order of goroutines. So the same seed and the same inputs give the same state hash, headless, in a
// window, in a browser and on every processor.
//
// # Layout
//
//	wall time --> Clock --> n steps --> Schedule: system, system, ...  <-- Input, Rand
//	                                       |
//	                                       +--> Hasher: one number per tick
//
// # Use it when, and when not
//
//	type                       use it for                         not for
//	-------------------------  ---------------------------------  ---------------------------------
//	Clock, Loop                drivers without a fixed rate of    inside Ebitengine's Update, which
//	                           their own: headless, benchmarks,   is a fixed step already: call
//	                           replays                            Schedule.Run
//	Schedule                   the systems of a tick, in a fixed  running systems in parallel
//	                           order, with their times
//	Rewind                     returning to any of the last       a longer run: write states to a
//	                           ticks, with saved states and       file
//	                           the inputs after them
//	Sin, Cos, Normalize,       anything that the simulation       drawing: package math is as good
//	MulAdd, Rand, Hasher       stores                             there
//	Synctest, Fields,          tests of saved states: what a      use during play: they save, hash
//	Unhashed, Lockstep         Set lacks, and what differs        and read everything
//
// # Cost
//
//	operation                                                Go allocations on the game goroutine
//	-------------------------------------------------------  ------------------------------------
//	Clock.Advance, Schedule.Run, Rand, Sin, Cos, Hasher      none
//	Fields                                                   16 bytes per value, more per reference
//	Rewind.Record                                            none
//	Rewind.Keep                                              those of save.Set.Save, such as at the first
//
// # Concurrency, determinism and the collector
//
// All types are for one goroutine at a time, the game goroutine. None starts a goroutine or allocates per tick.
// Functions of numbers and vectors, and methods of [Rand], return the same bits on every processor, apart from NaNs.
// [Schedule] measures its systems for display only. Data whose time of arrival varies, such as files, must not
// influence the simulation.
//
// # Source
//
// Clock: Fiedler, "Fix Your Timestep!", 2004. Rand: O'Neill, "PCG: A Family of Simple Fast
// Space-Efficient Statistically Good Algorithms for Random Number Generation", HMC-CS-2014-0905.
// Rand.Intn: Lemire, "Fast Random Integer Generation in an Interval", 2019. The constants of Hasher:
// Fowler, Noll and Vo, 1991. Its bytes go through save.Hash.
package engine
