// Package engine is the game loop without a window: a fixed step, ordered systems, input as
// data, arithmetic that is the same everywhere, level files, and pictures streamed by
// worker goroutines. It draws nothing and imports no graphics.
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
//	fs.FS --> worker goroutines ------------------> Upload(budget, sink) --> GPU
//	          read, decode, staging off the heap    game goroutine           Free: block goes home
//
//	Flow:  Playing --Go--> Leaving --every worker has acknowledged--> Loading --all there--> Playing
//
// # Use it when, and when not
//
//	| type | use it for | not for |
//	|---|---|---|
//	| Clock, Loop | drivers without a fixed rate of their own: headless, benchmarks, replays | inside Ebitengine's Update, which is a fixed step already: call Schedule.Run |
//	| Schedule | the systems of a tick, in a fixed order, with their times | running systems in parallel |
//	| Sin, Cos, Normalize, MulAdd, Rand, Hasher | anything that the simulation stores | drawing: package math is as good there |
//	| Level | level files written by people | formats read every frame |
//	| Loader, Flow | files needed some frames from now | what must be there in this tick |
//
// # Cost
//
//	| operation | Go allocations on the game goroutine |
//	|---|---|
//	| Clock.Advance, Schedule.Run, Rand, Sin, Cos, Hasher | none |
//	| Loader.Upload, Stats, Progress; Flow.Update while nothing changes | none |
//	| Loader.RequestPicture, RequestFile | none, unless refused |
//	| ParseLevel | one Go object per value of the file, at a level change |
//
// Workers decode with image/png, whose intermediate picture is garbage of the Go heap; the
// encoded file and the pixels lie in the worker's own allocator. The benchmarks print the times.
//
// # Concurrency, determinism and the collector
//
// All types belong to the game goroutine; only the Loader starts others, and shares nothing
// with them but what its mutex guards. Workers allocate from their own allocators and the game
// goroutine sends blocks home through [LoaderConfig].Free, never into a foreign allocator.
//
// The simulation never depends on when a file arrives: ticks count in the phase [Playing] only,
// a level begins with its own tick 0, and a picture that failed changes what is seen, never
// what happens. [Schedule] measures its systems for display; nothing reads the times back.
//
// # Source
//
// Fiedler, "Fix Your Timestep!", 2004, for the accumulator; O'Neill, "PCG: A Family of Simple
// Fast Space-Efficient Statistically Good Algorithms for Random Number Generation", HMC-CS-2014-0905,
// for Rand; Lemire, "Fast Random Integer Generation in an Interval", 2019, for Rand.Intn; Fowler,
// Noll and Vo, 1991, for the constants of Hasher.
package engine
