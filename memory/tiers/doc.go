// Package tiers has a complete memory manager: all of a game's memory in one reservation, divided into tiers that
// are freed at different moments.
//
// # The idea
//
// Memory of a frame, a level, an entity and a texture is freed at different moments, so it is kept apart. The
// manager owns one allocator for each lifetime and resets it when a frame or a level ends. It finds the allocator of
// a block by the address, so Free needs no more than pointer and size. It enforces a budget for each tier, paces
// Go's collector, and reports at any moment which tier has how many bytes.
//
// # Layout
//
//	| static | frame k | frame k-1 | level ....> | pools ....> | slab ....> | large ....> | worker 0 | worker 1 |
//	  one reservation; tiers begin on 1 MiB regions, a byte per region names the tier
//
//	tier    contents                                       freed
//	Static  buffers with declared lifetimes, placed by     EndLevel
//	        plan once per level
//	Frame   arena.Frames, N buffers, by default 2          N frames later
//	Level   arena.Growing                                  EndLevel
//	Pools   typed pools, component columns, and others     object by object; EndLevel resets
//	        that are built on PoolSource and registered    those that have a reset
//	Slab    slab.Heap, up to 4 KiB                         block by block; EndLevel reports leaks
//	Large   tlsf.Heap, above 4 KiB                         block by block; EndLevel reports leaks
//	Inbox   a tlsf.Heap per worker goroutine               block by block, by the worker or the
//	                                                       game; EndLevel reports leaks
//
// The calls come in this order. Any other order is an error that wraps [ErrOrder]:
//
//	New { BeginLevel { BeginFrame EndFrame }* EndLevel | BeginFrame EndFrame }* Close
//
// Close may come inside a level. Frame and level memory can be allocated between Begin and End only. Pools may be
// made at any time. EndLevel resets them, and so frees their objects from before BeginLevel, too.
//
// If an object owns more than memory, such as a texture or a file, [Manager.OnReset] registers a function that
// releases that when the tier is reset.
//
// # With Ebitengine
//
// A frame is a tick, not a picture. Ebitengine calls Update at a fixed rate and Draw at the rate of the screen.
// Between two ticks there may be several Draws or none, and between two Draws several ticks or none. So Update
// calls [Manager.NextFrame]. The frame stays open for Draw, which reads what the tick has allocated. Draw may be
// called several times in a frame, so it frees what it allocates:
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
// as the two are not called in turns. With NextFrame in Draw, the allocations of many ticks accumulate in one
// frame if the window is slow or hidden. Package render/overlay has a complete program.
//
// # Tags
//
// A tier names the lifetime of a block, a [Tag] the subsystem that allocated it. With [Config.Tags] the manager
// records the tag of each block that was allocated under one, by the block's address. So the tag's statistics stay
// right regardless of which code frees or resizes the block. [Inspector.EachTag] and Snapshot have a row for each tag
// and one for all untagged blocks. [Snapshot.WriteText], WriteTagsJSON and WriteTagsCSV write these rows. EndLevel
// reports leaks by tag.
//
//	what is counted                           through
//	blocks of slab and large                  Tag.Alloc
//	blocks of a worker's heap                 Worker.Tag, on the worker's goroutine
//	pools, component columns                  Tag.AddPool, NewPoolIn
//	blocks of the frame's or level's arena    Tag.Frame, Tag.Level
//
// # Scratch
//
// Each worker has a bump arena of Config.Scratch bytes for blocks that are freed at the end of its task.
// [Worker.BeginTask] returns it empty, Mark and Rewind open scopes in it, and [Worker.EndTask] empties it. It has
// the type that Frame returns, so the same system can run on the game goroutine and on a worker. It takes no lock,
// and frames that begin or end during the task do not affect it.
//
// # Use it when, and when not
//
// Use it for a game with frames and levels. An engine with other lifetimes uses the allocators of the packages
// instead: all that this package is built on is public.
//
// # Cost
//
//	operation                  cost
//	Frame, Level, Slab, Large  the allocator's own; the accessors inline
//	Alloc                      that of slab or large, and a call
//	Free, FreeAny              a range check, a byte of the route table, the allocator's own Free
//	Free of a static buffer    proportional to the plan
//	Resize                     as Free, with the allocator's own Resize
//	Tag.Alloc, and its Free    the manager's, and about 17 ns for the tag; see BenchmarkTag
//	BeginTask and EndTask      a lock each; in between those of arena.Linear
//	Worker.Alloc, Worker.Free  those of tlsf, and a lock that Stats holds for a moment
//	BeginFrame, EndFrame       proportional to tiers, pools and workers, plus the blocks that other
//	                           goroutines have freed
//	BeginLevel                 a frame's, 16 bytes of metadata copied per KiB of slab in use, and the
//	                           rest of a collection that is running
//	EndLevel                   the pools' resets and hooks, 16 bytes of metadata per KiB of slab in
//	                           use, the blocks of large and of the workers, and a collection of the
//	                           Go heap if one is due
//	Snapshot                   a few microseconds, no allocation
//
// A block grows from 4 to 600 KiB in steps of 128 bytes. After each step a block of 128 bytes is allocated, which
// is kept, or freed after the next step. Columns: ns for a step, how often the block moved, and bytes committed per
// byte that is live at the end:
//
//	                 freed: ns  moves  committed    kept: ns  moves  committed
//	manager                 30      1       1.44          24      1       1.15
//	a worker's heap         84      1       1.07          76      8       1.59
//	tlsf alone              37      1       1.07          54      8       1.59
//	append and make        263                           262
//
// go test ./memory/tiers -bench Grow$; Intel Xeon, Go 1.26.8, the lowest of 3 interleaved rounds of 60 runs, on a
// machine that was busy with other work. The rounds spread by a factor of two. The manager's committed bytes beyond
// the block are the first step of the slab. If the small blocks are kept, the heaps that contain both kinds need
// twice the small blocks' size: their granule is 256 bytes.
//
// The leak report of EndLevel costs an Alloc nothing in slab and one store in large: see slab.Heap.BeginEpoch.
//
// # Concurrency and the collector
//
// The manager belongs to the game goroutine, a [Worker] to its worker's goroutine, and a Freer to the goroutine
// that made it. Worker.Stats is safe for concurrent use. Callbacks run on the game goroutine, except the hooks of a
// scratch arena, which EndTask runs on the worker's.
//
// Each manager paces the collector, for the whole process: see package gcpace and [Config.GC]. EndLevel runs a
// collection that became due in the level.
//
// # Source
//
// Lifetimes as tiers: Hanson (1990), see package arena. The route table, which finds the tier of an address, is the
// pagemap of Ghemawat and Menage, "TCMalloc: Thread-Caching Malloc" (2005), by regions of 1 MiB.
package tiers
