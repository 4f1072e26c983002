// Package engine is the game loop without a window: a fixed step, ordered systems, input as
// data, arithmetic that is the same everywhere, one number for a whole state. It knows no game,
// draws nothing and imports no graphics. Files are streamed by its package stream.
//
// # The idea
//
// The simulation is a function of a seed and of one [Input] per tick. Everything that depends
// on the machine (the wall clock, devices, files, goroutines) stays outside of it, so that the
// same seed gives the same state hash headless, in a window, in a browser, on every processor.
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
//	Sin, Cos, Normalize,       anything that the simulation       drawing: package math is as good
//	MulAdd, Rand, Hasher       stores                             there
//
// # Cost
//
//	operation                                                Go allocations on the game goroutine
//	-------------------------------------------------------  ------------------------------------
//	Clock.Advance, Schedule.Run, Rand, Sin, Cos, Hasher      none
//
// # Concurrency, determinism and the collector
//
// All types belong to the game goroutine; none starts another one, and none keeps a Go object
// per tick. [Schedule] measures its systems for display; nothing reads the times back. What
// arrives when it arrives, as files do, must not reach the simulation.
//
// # Source
//
// Fiedler, "Fix Your Timestep!", 2004, for the accumulator; O'Neill, "PCG: A Family of Simple
// Fast Space-Efficient Statistically Good Algorithms for Random Number Generation", HMC-CS-2014-0905,
// for Rand; Lemire, "Fast Random Integer Generation in an Interval", 2019, for Rand.Intn; Fowler,
// Noll and Vo, 1991, for the constants of Hasher.
package engine
