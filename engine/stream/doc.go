// Package stream loads files while a game is played. Worker goroutines read and decode them into
// blocks outside the Go heap. The game goroutine receives the results in portions that fit into a
// frame.
//
// # The idea
//
// A [Kind] says what a file becomes. Its decode function runs on a worker and allocates from the
// worker's own heap. Its deliver function runs on the game goroutine. [Request] returns a [Handle].
// The handle has a priority, which may change. Closing the handle cancels or releases the asset. A
// [Scope] closes its handles together.
//
// # Layout
//
//	Request --> queue --> worker goroutine --> ready --> Poll, once a frame --> Handle.Get
//	  |  ^      by ETA    Reader: 32 KiB at     by ETA    Deliver, within          |
//	  |  |                a time; Heap: the               Config.Upload            |
//	  |  +-- Waiting ---- worker's blocks                                          |
//	  |      for space, or the next attempt                                        |
//	  +--- the last handle is closed: cancelled, or cached, or released <----------+
//
//	Flow:  Playing --Go--> Leaving --every worker acknowledged--> Loading --complete--> Playing
//
// # Use it when, and when not
//
// Use it for assets that are needed some frames from now, and for worlds that are larger than memory.
// Do not use it for data that this tick needs, nor for anything that the simulation depends on: the
// order of completion is nondeterministic.
//
//	you want to                            use
//	-------------------------------------  ------------------------------------------------------
//	load pictures, raw bytes, parsed text  [Pictures], [Files], [Parsed], with [Register]
//	load something else                    a [Kind]: Decode from a [Reader] into a [Heap]
//	change the priority, or cancel         [Handle.Priority], [Handle.Close], [Scope.Cancel]
//	deliver a long sound in slices         Kind.Deliver that returns [ErrMore]
//	play in a world that is larger than    Config.Resident: assets with a handle stay, the others
//	memory                                 are cached and evicted, least recently used first
//	change art while the game runs         Config.Watch, or [Streamer.Reload]
//	play level after level                 [Flow]
//	simulate a slow disk                   [Slow]
//
// Open a folder with os.OpenRoot, so that no link leads out of it. Only regular files are read.
//
// # Failures
//
// A failure affects one asset. It is logged as one [LoadError] that names the asset. The asset is
// loaded again after a new request, [Handle.Retry], [Streamer.Reload] or a change of its file. It is
// retried without that only if Config.Retries allows it: after Config.Backoff Polls, then after twice
// as many. After a failed reload the old value stays loaded, and the next reload waits for another
// change of the file.
//
// # Order
//
// Lower ETAs come first, equal ones in the order of their requests. One in ten assets that workers
// begin is the oldest request, whatever its ETA. So is a tenth of the bytes that Poll delivers while
// more is ready than fits into its budget. No request waits forever. An asset over Config.Resident
// waits without blocking smaller ones. A worker reserves space when its decode function allocates, so
// any of the assets in progress may be the one that waits.
//
// # Cost
//
//	operation                                         cost; Go allocations
//	------------------------------------------------  ------------------------------------------
//	Request, Close, Priority                          O(log n) in what is queued; none
//	Poll, nothing to do                               one lock; none
//	Poll, with evictions or reloads                   O(n) in Config.Assets; none
//	Get, State, Err                                   one lock; none
//	Stats, Progress                                   O(classes), O(handles); none
//	an asset, on its worker                           1 for its value, and those of the file
//	                                                  system and of the decoder
//	a worker                                          32 KiB of the Go heap, for all its files
//
// Package png decodes pictures directly into their blocks. Its documentation says what it and
// compress/zlib allocate.
//
// # Concurrency and the collector
//
// A [Streamer], its scopes and handles are for the game goroutine. Workers share only what the
// streamer's mutex guards. Each worker allocates from its own heap. The game goroutine returns blocks
// through Config.Free and never calls a worker's heap. Values are Go objects; the bytes that they point
// to are in blocks that the collector does not scan.
//
// # Waiting
//
// No callback runs and no goroutine waits while the streamer's mutex is held. These are all other
// waits:
//
//	who               waits for                                 it ends, at the latest
//	----------------  ----------------------------------------  ------------------------------------
//	idle worker       a request, a cancellation, Close          it owns nothing
//	starved worker    a free block of its heap: a delivery,     when a scope is cancelled: it frees
//	                  an eviction, a Close                      its blocks, puts its asset back into
//	                                                            the queue and acknowledges; or when
//	                                                            no block of its heap will be freed
//	                                                            or can be evicted
//	reading worker    one call of the file system               after Config.Patience: it is
//	                                                            abandoned
//	waiting asset     space under Config.Resident, or the       no worker has it, and Flow continues
//	                  next attempt                              without it
//	Streamer.Close    every worker's end                        after the last running call of the
//	                                                            file system (2 s), of a decoder
//	                                                            between two reads, or of Drain
//	Wait, Finish      an event for the game goroutine           every such event wakes them
//
// There is no cycle. A worker waits for the game only when it is starved, and the game never waits for
// a starved worker. A cancellation and Close wake it. Wait returns if there is something to deliver or
// to evict, or if it is called inside Deliver, whose asset has the block. Workers never wait for each
// other. A worker without space under Config.Resident frees its blocks instead of waiting with them.
//
// Calls of other code remain. Those of the file system have a watchdog. Decoders, a worker's allocator,
// Drain, Free, Deliver and Release belong to the game. They must return, and must not wait for the
// streamer from another goroutine.
//
// A callback that panics fails its asset, or its level, with an error that names it. On the game
// goroutine the panic continues to the caller. On a worker it ends there.
//
// An abandoned worker and its heap are not used again while the streamer is open. Its blocks stay
// counted in Stats.Staging, and Stats.Abandoned counts it. If its call returns, its goroutine ends and
// touches neither the heap nor the metadata. When no worker is left, every request fails with
// [ErrNoWorkers], and Close returns an error that names the files.
//
// # Source
//
// The requirements come from users of other engines' loaders: changing priorities, cancellation,
// retries, reload directly after a release, and deliveries without stutter. Eviction is by least
// recent use; Belady, 1966, compares it with the optimum.
package stream
