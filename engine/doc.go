// Package engine is the game loop without a window: a fixed step, ordered systems, input as
// data, arithmetic that is the same everywhere, and files and pictures streamed by worker
// goroutines. It knows no game. It draws nothing and imports no graphics.
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
//	type                       use it for                         not for
//	-------------------------  ---------------------------------  ---------------------------------
//	Clock, Loop                drivers without a fixed rate of    inside Ebitengine's Update, which
//	                           their own: headless, benchmarks,   is a fixed step already: call
//	                           replays                            Schedule.Run
//	Schedule                   the systems of a tick, in a fixed  running systems in parallel
//	                           order, with their times
//	Sin, Cos, Normalize,       anything that the simulation       drawing: package math is as good
//	MulAdd, Rand, Hasher       stores                             there
//	Loader, Flow               files needed some frames from now  what must be there in this tick
//
// # Cost
//
//	operation                                                Go allocations on the game goroutine
//	-------------------------------------------------------  ------------------------------------
//	Clock.Advance, Schedule.Run, Rand, Sin, Cos, Hasher      none
//	Loader.Upload, Stats, Progress; Flow.Update while        none
//	nothing changes
//	Loader.RequestPicture, RequestFile                       none, unless refused
//
// Workers decode with image/png, whose intermediate picture is garbage of the Go heap; the
// encoded file and the pixels lie in the worker's own allocator; each worker reads files
// through 64 KiB of the Go heap. The benchmarks print the times.
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
// # Who waits for whom
//
// Besides the loader's mutex, under which nothing is called that is not the loader's own and
// nobody waits, these are all the waits there are:
//
//	who               waits for                                 it ends, at the latest
//	----------------  ----------------------------------------  ------------------------------------
//	idle worker       a request, a cancellation, Close          it holds nothing: nobody waits for it
//	starved worker    a block of its heap to go home: Upload,   when a level is left: it frees what
//	                  Take, a cancellation                      it holds, hands its asset back to the
//	                                                            queue and acknowledges; or when no
//	                                                            picture of its heap is left outside
//	reading worker    one call of the file system               when LoaderConfig.Patience is over:
//	                                                            it is given up
//	CancelLevel       every worker's acknowledgement            with the last call, of the file system
//	                                                            or of Drain, that was under way
//	Close             every worker's end                        the same, and 2 s for a call
//	Wait, Finish      anything that the game can act on         the same: every step of a worker
//	                                                            that matters is announced
//
// There is no cycle. A worker waits for the game in one place only, when it is starved, and
// the game never waits for a starved worker: a cancellation and Close wake it, and Wait
// returns when there is a picture to upload, or when the caller itself holds the block, being
// inside a sink. Workers never wait for each other: each has a heap of its own. What is left
// are calls that are not the engine's. The file system's are watched; a worker's allocator,
// Drain, Free and sinks belong to the game: they must return, and must not wait for the loader
// from another goroutine.
//
// A call that panics, whoever's it is, costs its picture, its file or its level, with an error
// that says so. On the game goroutine the panic goes on to the caller, on a worker it ends there.
//
// A worker that was given up is gone, and so is its heap for as long as the loader is open:
// nobody else allocates or frees there, what it held stays counted in LoaderStats.Staging and
// Abandoned counts it. Should its call return, its goroutine ends and touches neither heap nor
// books. When the last worker is gone everything fails with ErrNoWorkers, and Close says which
// files it was.
//
// # Source
//
// Fiedler, "Fix Your Timestep!", 2004, for the accumulator; O'Neill, "PCG: A Family of Simple
// Fast Space-Efficient Statistically Good Algorithms for Random Number Generation", HMC-CS-2014-0905,
// for Rand; Lemire, "Fast Random Integer Generation in an Interval", 2019, for Rand.Intn; Fowler,
// Noll and Vo, 1991, for the constants of Hasher.
package engine
