// Package stream loads files while a game is played: worker goroutines read and decode them
// into blocks outside the Go heap, and the game goroutine takes delivery in portions that a
// frame can afford.
//
// # The idea
//
// What a file becomes is a kind: a decode function that runs on a worker and allocates from
// the worker's own heap, and a deliver function that runs on the game goroutine. A request is a
// [Ticket]: it says when the asset will be needed, may change its mind, and ends everything when
// it is closed. Requests that end together are a [Scope].
//
// # Layout
//
//	Request --> queue --> worker goroutine --> ready --> Poll, once a frame --> Ticket.Get
//	  |  ^      by ETA    Reader: 32 KiB at     by ETA    Deliver, within          |
//	  |  |                a time; Heap: the               Config.Upload            |
//	  |  +-- Waiting ---- worker's blocks                                          |
//	  |      for room, or the next attempt                                         |
//	  +--- the last ticket is closed: cancelled, or cached, or released <----------+
//
//	Flow:  Playing --Go--> Leaving --every worker has let go--> Loading --all there--> Playing
//
// # Use it when, and when not
//
// For what is needed some frames from now, and for what there is more of than memory. Not for
// what must be there in this tick, and not for anything that the simulation depends on: when a
// file arrives is nobody's to say.
//
//	you want to                            use
//	-------------------------------------  ------------------------------------------------------
//	load pictures, raw bytes, parsed text  [Pictures], [Files], [Parsed], with [Register]
//	load something else                    a [Kind]: Decode from a [Reader] into a [Heap]
//	have it sooner, or not at all          [Ticket.Priority], [Ticket.Close], [Scope.Cancel]
//	hand over a long sound in slices       Kind.Deliver that returns [ErrMore]
//	hold a world that is larger than       Config.Resident: what has a ticket stays, the rest is
//	memory                                 cached, and goes, the longest without a ticket first
//	change art while the game runs         Config.Watch, or [Streamer.Reload]
//	play level after level                 [Flow]
//	see what a slow disk does              [Slow]
//
// A folder is best opened with os.OpenRoot: no link leaves it. Only regular files are read.
//
// # What happens to what fails
//
// It costs that asset, with one [LoadError] that names it, and nothing else. It is tried again
// when somebody asks: a new request, [Ticket.Retry], [Streamer.Reload], a file that changed; by
// itself only where Config.Retries says so, Config.Backoff Polls later, then twice as many. A
// reload that fails leaves the old value where it is, for as long as the file is not another one.
//
// # Order
//
// Lower ETAs come first, equal ones in the order of their requests; but one asset in ten that
// workers begin, and a tenth of the bytes that Poll delivers while more is ready than it may, go
// to the oldest request, whatever its ETA: nothing waits for ever. What does not fit under
// Config.Resident waits, and keeps nothing from its room that does fit. Of what workers have in hand
// at once any may be what waits: none has a claim to room before it asks for it.
//
// # Cost
//
//	operation                                         cost; Go allocations
//	------------------------------------------------  ------------------------------------------
//	Request, Close, Priority                          O(log n) in what is queued; none
//	Poll, nothing to do                               one lock; none
//	Poll, room to make or files to reload             O(n) in Config.Assets; none
//	Get, State, Err                                   one lock; none
//	Stats, Progress                                   O(classes), O(tickets); none
//	an asset, on its worker                           1: the box that its value lies in, beside
//	                                                  the file system's and the decoder's own
//	a worker                                          32 KiB of the Go heap, for all its files
//
// Pictures are decoded by package png, straight into their blocks; what it keeps, and what
// compress/zlib allocates, stands there.
//
// # Concurrency and the collector
//
// A [Streamer], its scopes and tickets belong to the game goroutine. Workers share nothing with
// it but what its mutex guards. Each allocates from its own heap only, and the game goroutine
// sends blocks home through Config.Free, never into a foreign heap. Values are Go objects;
// the bytes that they point to lie in blocks that the collector does not see.
//
// # Who waits for whom
//
// Besides the streamer's mutex, under which nothing is called that is not the streamer's own
// and nobody waits, these are all the waits there are:
//
//	who               waits for                                 it ends, at the latest
//	----------------  ----------------------------------------  ------------------------------------
//	idle worker       a request, a cancellation, Close          it holds nothing: nobody waits for it
//	starved worker    a block of its heap to go home: a         when a scope is cancelled: it frees
//	                  delivery, an eviction, a Close            what it holds, puts its asset back
//	                                                            into the queue and acknowledges; or
//	                                                            when none of its heap's blocks will
//	                                                            go home by itself, or is cached
//	reading worker    one call of the file system               when Config.Patience is over: it is
//	                                                            given up
//	Waiting asset     room under Config.Resident, the next      no worker has it, and nobody waits
//	                  attempt                                   for it: Flow goes on without it
//	Streamer.Close    every worker's end                        with the last call, of the file system
//	                                                            (2 s), of a decoder between two reads,
//	                                                            or of Drain, that was under way
//	Wait, Finish      anything that the game can act on         the same: every step of a worker
//	                                                            that matters is announced
//
// There is no cycle. A worker waits for the game in one place only, when it is starved, and
// the game never waits for a starved worker: a cancellation and Close wake it, and Wait returns
// when there is something to deliver, room to be made, or when the caller itself holds the
// block, being inside Deliver. Workers never wait for each other: each has a heap of its own;
// one that finds no room under Config.Resident gives up what it holds instead of waiting with it
// in hand. What is left are calls that are not the streamer's. The file system's are watched;
// decoders, a worker's allocator, Drain, Free, Deliver and Release belong to the game: they must
// return, and must not wait for the streamer from another goroutine.
//
// A call that panics, whoever's it is, costs its asset, or its level, with an error that says
// so. On the game goroutine the panic goes on to the caller, on a worker it ends there.
//
// A worker that was given up is gone, and so is its heap for as long as the streamer is open:
// nobody else allocates or frees there, what it held stays counted in Stats.Staging and
// Abandoned counts it. Should its call return, its goroutine ends and touches neither heap nor
// books. When the last worker is gone everything fails with [ErrNoWorkers], and Close says which
// files it was.
//
// # Source
//
// The questions that it answers are those of users of other engines' loaders: priorities that
// change, cancellation of what nobody wants, retries, a reload in the frame after a release,
// hand-overs that stutter. Residency by least recent use is Belady's second best, 1966.
package stream
