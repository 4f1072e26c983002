// Package stream loads files while a game is played. Worker goroutines read and decode them into
// blocks outside the Go heap. The game goroutine receives the results in portions that fit into a
// frame.
//
// # The idea
//
// A [Kind] describes how a file becomes a value. The Kind's decode function runs on a worker and allocates from the
// worker's own heap. The Kind's deliver function runs on the game goroutine. [Request] returns a [Handle]. The handle
// has a priority, which may change. Closing the last handle of an asset cancels, caches or releases the asset. A
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
// Open a folder with os.OpenRoot, so that no link leads out of the folder. Only regular files are read.
//
// # Failures
//
// A failure affects one asset. Each failed attempt is logged as a [LoadError] that names the asset. The asset is loaded
// again after a new request, [Handle.Retry] or [Streamer.Reload], and with Config.Watch after a change of its file.
// Automatic retries need Config.Retries: the first comes after Config.Backoff Polls, each further retry after twice as
// many Polls. After a failed reload the old value stays loaded. Config.Watch then reloads it only after another change
// of the file, unless the reload failed with [ErrFull].
//
// # Order
//
// Lower ETAs come first. Equal ETAs come in the order of their requests. One in ten assets that workers begin is the
// oldest request, regardless of its ETA. While more assets are ready than fit into the budget of Poll, a tenth of the
// delivered bytes also belongs to the oldest requests. So no queued or ready asset waits forever. An asset that does
// not fit under Config.Resident waits without blocking smaller ones. A worker reserves space when its decode function
// allocates. So each of the assets in progress may have to wait.
//
// # Cost
//
//	operation                                         cost; Go allocations
//	------------------------------------------------  ------------------------------------------
//	Request, Close, Priority                          O(log n) in what is queued, O(n) in the
//	                                                  handles of the asset; none
//	Poll, nothing to do                               four locks; none
//	Poll, with waits, evictions or reloads            O(n log n) in Config.Assets; none
//	Get, State, Err                                   one lock; none
//	Stats, Progress                                   O(classes and waiting assets), O(handles); none
//	an asset, on its worker                           1 for its value, and those of the file
//	                                                  system and of the decoder
//	a worker                                          32 KiB of the Go heap, in a browser 8 KiB
//
// Package png decodes pictures directly into their blocks. The documentation of package png lists the allocations of
// both png and compress/zlib.
//
// # Concurrency and the collector
//
// A [Streamer], its scopes and handles are for the game goroutine. Workers share only data that the streamer's mutex
// guards. Each worker allocates from its own heap. The game goroutine returns blocks through Config.Free and never
// calls a worker's heap. Values are Go objects. They may point to bytes in blocks, which the collector does not scan.
//
// # Waiting
//
// No callback runs and no goroutine waits while the streamer's mutex is held. These are all other
// waits:
//
//	who               waits for                                 it ends, at the latest
//	----------------  ----------------------------------------  ------------------------------------
//	idle worker       a request, a cancellation, Close          it owns nothing
//	starved worker    a free block of its heap: a delivery,     at a Scope.Cancel or Settle: it frees
//	                  an eviction, a Close                      its blocks, puts its asset back into
//	                                                            the queue and acknowledges; or when
//	                                                            no block of its heap will be freed
//	                                                            or can be evicted
//	reading worker    one call of the file system               after Config.Patience: it is
//	                                                            abandoned
//	waiting asset     space under Config.Resident, or the       no worker has it; Flow waits for the
//	                  next attempt                              attempt, but not for space
//	Streamer.Close    every worker's end                        after the last running call of the
//	                                                            file system (2 s), of a decoder
//	                                                            between two reads, or of Drain
//	Wait, Finish      an event for the game goroutine           every such event wakes them, after a
//	                                                            millisecond if a retry counts Polls
//
// There is no cycle. A worker waits for the game only when it is starved, and the game never waits for a starved
// worker. Cancel, Settle and Close wake a starved worker. Wait returns if there is an asset to deliver or to evict.
// If a worker is starved, Wait also returns inside Deliver, because the asset that is being delivered may have the
// block. Workers never wait for each other. If a worker finds no space under Config.Resident, it frees its blocks
// before the asset waits.
//
// Workers also wait for calls of other code. A watchdog limits the calls of the file system. Decoders, a worker's
// allocator, Drain, Free, Deliver and Release belong to the game. These calls must return, and must not wait for the
// streamer from another goroutine.
//
// If Decode, Deliver or a callback of a [Flow] panics, its asset or its level fails, with an error that names the
// callback. A panic of Release or Free fails no asset. A panic of Drain, or of Stats of a worker's allocator, is logged.
// On the game goroutine the panic continues to the caller, but Streamer.Close returns it as an error. On a worker the
// streamer recovers from the panic.
//
// An abandoned worker and its heap are not used again. Stats.Staging continues to count the worker's blocks, and
// Stats.Abandoned counts the worker. If the call of the file system returns, the worker's goroutine ends and touches
// neither the heap nor the metadata. A decode function or Drain that calls runtime.Goexit abandons its worker, too.
// When no worker is left, every request fails with [ErrNoWorkers], and Close returns an error that names the files.
//
// # Source
//
// The requirements come from users of other engines' loaders: changing priorities, cancellation,
// retries, reload directly after a release, and deliveries without stutter. Eviction is by least
// recent use; Belady, 1966, compares it with the optimum.
package stream
