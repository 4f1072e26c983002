// Package tiers is the memory manager, ready made: all of a game's memory in one reservation,
// cut into tiers that die at different moments.
//
// # The idea
//
// A frame, a level, an entity and a texture do not die together, so they do not live
// together. The manager owns one allocator for each lifetime, resets them at the game's own
// milestones, finds the owner of a block by its address and has it check the free, keeps a
// budget for each tier, paces Go's collector, and can say at any moment where every byte is.
//
// # Layout
//
//	| static | frame k | frame k-1 | level ....> | pools ....> | slab ....> | large ....> | worker 0 | worker 1 |
//	  one reservation; tiers begin on 1 MiB regions, a byte per region names the tier
//
//	tier    what it is                                     dies
//	Static  buffers with declared lifetimes, placed by     EndLevel
//	        plan once per level
//	Frame   arena.Frames, N buffers, 2 unless told         N frames later
//	Level   arena.Growing                                  EndLevel
//	Pools   component columns, typed pools, what else is   object by object; at EndLevel
//	        built on PoolSource and registered             where it has a reset
//	Slab    slab.Heap, up to 4 KiB                         block by block; EndLevel reports leaks
//	Large   tlsf.Heap, above                               block by block; EndLevel reports leaks
//	Inbox   a tlsf.Heap per worker goroutine               block by block, through remote where
//	                                                       the game frees; EndLevel reports leaks
//
// The calls come in this order, and anything else is an error that says so:
//
//	New { BeginLevel { BeginFrame EndFrame }* EndLevel | BeginFrame EndFrame }* Close
//
// Close may come inside a level. Frame and level memory is to be had between Begin and End only;
// pools may be made at any time, and hold what was made before BeginLevel until its EndLevel.
//
// What owns more than memory, a texture or a file, is released by [Manager.OnReset] when its tier dies.
//
// # With Ebitengine
//
// A frame is a tick, not a picture. Ebitengine calls Update at a fixed rate and Draw at the rate of the screen:
// between two ticks there are several Draws or none, and between two Draws several ticks or none. So Update
// calls [Manager.NextFrame]. The frame stays open for Draw, which reads what the tick has made. Draw frees what
// it allocates itself, as it may be called again:
//
//	func (g *Game) Update() error {
//		if err := g.m.NextFrame(); err != nil {
//			return err
//		}
//		return g.tick()
//	}
//
//	func (g *Game) Draw(screen *ebiten.Image) {
//		mark := g.m.Frame().Mark()
//		g.draw(screen)
//		g.m.Frame().Rewind(mark)
//	}
//
// Call NextFrame once before RunGame if Draw uses the frame: Draw may come first. Call EndFrame before a level
// begins or ends, and after RunGame. BeginFrame in Update with EndFrame in Draw fails with ErrOrder as soon
// as the two are not called in turns. With NextFrame in Draw, a window that is slow or hidden lets the
// allocations of many ticks pile up in one frame. Package render/overlay has a complete program.
//
// # Tags
//
// A tier says how long memory lives, a [Tag] says who has it. With [Config.Tags] the manager notes
// for each block that was handed out under a tag which one that is, by the block's address, and the
// books of the tag follow the block, whoever frees or resizes it. [Inspector.EachTag] and Snapshot
// have a row for each tag and one for what no tag has, which [Snapshot.WriteText], WriteTagsJSON and
// WriteTagsCSV write out; EndLevel tells leaks by tag.
//
//	what is counted                           through
//	blocks of slab and large                  Tag.Alloc
//	blocks of a worker's heap                 Worker.Tag, on the worker's goroutine
//	pools, component columns                  Tag.AddPool, NewPoolIn
//	what a frame or level took from its arena Tag.Frame, Tag.Level
//
// # Scratch
//
// Each worker has a bump arena of Config.Scratch bytes for what dies with its task:
// [Worker.BeginTask] hands it out empty, Mark and Rewind open scopes in it, and [Worker.EndTask]
// empties it. It is of the type that Frame returns, so that a system is written once. There is no
// lock in it, and no frame of the game's takes it away in the midst of a task.
//
// # Use it when, and when not
//
// Use it for a game with frames and levels. An engine that has lifetimes of its own takes the
// families from their packages instead; nothing here is hidden from it.
//
// # Cost
//
//	operation                  cost
//	Frame, Level, Slab, Large  the family's own; the accessors inline
//	Alloc                      slab's, or large's, and a call
//	Free, FreeAny              a range check, a byte of the route table, the family's own free
//	Free of a static buffer    proportional to the plan
//	Resize                     as Free, and the family's own; false for what cannot be had in place
//	Tag.Alloc, and its Free    the manager's, and some 17 ns for the note; see BenchmarkTag
//	BeginTask and EndTask      a lock each; in between arena.Linear's own
//	Worker.Alloc, Worker.Free  tlsf's, and a lock that Stats holds for a moment
//	BeginFrame, EndFrame       proportional to tiers, pools and workers, plus the frees that came home
//	BeginLevel                 a frame's, 16 bytes of books moved per KiB of slab in use, and the rest
//	                           of a collection that is under way
//	EndLevel                   the pools' resets and hooks, 16 bytes of books per KiB of slab in use,
//	                           the blocks of large and of the workers, and a collection of the Go
//	                           heap if one is due
//	Snapshot                   a few microseconds, no allocation
//
// A block that grows from 4 to 600 KiB, 128 bytes at a time, with a block of 128 bytes handed out
// after each step, and freed after the next or kept; ns for a step, the times that the block moved,
// and bytes committed for one that is live at the end:
//
//	                 freed: ns  moves  committed    kept: ns  moves  committed
//	manager                 30      1       1.44          24      1       1.15
//	a worker's heap         84      1       1.07          76      8       1.59
//	tlsf alone              37      1       1.07          54      8       1.59
//	append and make        263                           262
//
// go test ./memory/tiers -bench Grow$; Intel Xeon, Go 1.26.8, the lowest of 3 interleaved rounds of
// 60 runs, on a machine that was busy with other work; they spread by a factor of two. What the
// manager has committed beyond the block is the first step of the slab. Where all small blocks live
// on, the heaps that hold both kinds need twice their size for them: a granule is 256 bytes.
//
// What EndLevel would report costs an Alloc nothing in slab and one store in large: see
// slab.Heap.BeginEpoch.
//
// # Concurrency and the collector
//
// The manager belongs to the game goroutine; a [Worker] to its worker; a Freer to whoever
// asked for it. Worker.Stats may be read from anywhere. Every callback runs on the game
// goroutine.
//
// The pacing is the process's. While a manager without [Config.KeepGC] lives, the collector runs
// when the Go heap has grown by [Config.GoHeadroom], or by what GOGC allows where that is more; at
// EndLevel when plain Go would have run by then; and at Collect. So there is never a collection
// more than without a manager but those of Collect, and none in a level that makes less garbage
// than the headroom, except the one that the runtime begins when there was none for two
// minutes, unless [Config.HoldGC] puts that off, and those that a memory limit asks for. A collection at EndLevel blocks, and costs
// what it costs in plain Go: with a large live heap a level change takes that long, and with
// several managers the levels of the others bear it, too.
//
// # Source
//
// Lifetimes as tiers: Hanson (1990), see package arena; the route table is the pagemap of
// Ghemawat and Menage, "TCMalloc: Thread-Caching Malloc" (2005), at the scale of regions.
package tiers
