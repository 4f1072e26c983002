// Package tiers has a complete memory manager: all of a game's memory in one reservation, divided into tiers that
// are freed at different moments.
//
// # The idea
//
// A game frees the memory of a frame, a level, an entity and a texture at different moments. So the manager owns one
// allocator for each lifetime. Such an allocator with its address space and its budget is a tier. When a frame expires
// or a level ends, the manager resets the tiers of that lifetime. The manager finds the allocator of a block by the
// block's address, so Free needs only pointer and size. The manager enforces a budget for each tier, paces Go's
// collector, and reports at any moment which tier has how many bytes.
//
// # Layout
//
//	| static | frame k | frame k-1 | level ....> | pools ....> | slab ....> | large ....> | worker 0 | worker 1 |
//	  one reservation; tiers begin on 1 MiB regions; the route table has a byte per region, which names the tier
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
//	Inbox   a tlsf.Heap per worker goroutine               block by block, from any goroutine;
//	                                                       EndLevel reports leaks
//
// The calls come in this order. Any other order is an error that wraps [ErrOrder]:
//
//	New { BeginLevel { BeginFrame EndFrame }* EndLevel | BeginFrame EndFrame }* Close
//
// [Manager.NextFrame] ends a frame, if one is open, and begins the next. Close may come inside a level. Frame memory
// can be allocated only between BeginFrame and EndFrame, level memory only between BeginLevel and EndLevel. Pools may
// be made inside a level or not. EndLevel resets all pools that have a reset, and so frees also objects that are older
// than the level.
//
// If an object owns more than memory, such as a texture or a file, [Manager.OnReset] registers a function that
// releases the texture or the file when the tier is reset.
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
// Call NextFrame once before RunGame if Draw uses the frame: Draw may come first. Call EndFrame before a level begins
// or ends, and after RunGame. BeginFrame in Update with EndFrame in Draw fails with ErrOrder as soon as the two are
// not called in turns. Do not call NextFrame in Draw: if the window is slow or hidden, the allocations of many ticks
// accumulate in one frame. Package render/overlay has a complete program.
//
// # Tags
//
// A tier names the lifetime of a block, a [Tag] the subsystem that allocated it. With [Config.Tags] the manager
// records, by address, the tag of each block that was allocated under a tag. So the tag's statistics stay right
// regardless of which code frees or resizes the block. [Inspector.EachTag] and [Manager.Snapshot] return a row for each
// tag and a row for all untagged blocks. [Snapshot.WriteText], WriteTagsJSON and WriteTagsCSV write these rows.
// EndLevel reports leaks by tag.
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
// [Worker.BeginTask] returns the arena empty. Mark and Rewind open and close scopes in the arena. [Worker.EndTask]
// empties the arena. The arena has the type that Manager.Frame returns, so a system can run on the game goroutine and
// on a worker. The arena takes no lock. Frames that begin or end during the task do not affect the arena.
//
// # Traces
//
// With [Config.Trace] the manager writes an allocation trace, see package trace. A trace can be replayed against
// other allocators.
//
//	blocks of slab and large    exact: Alloc, Free, FreeAny and Resize of the manager and of tags, and frees by a
//	                            Freer when the game goroutine frees the block
//	blocks of workers           exact: Alloc, Free and Resize, and frees by others when the worker frees the block
//	other use of an allocator   only through [Recorded]
//	static                      one block of all buffers, from Declare to EndLevel
//	pool.Pool in Pools          a summary at EndFrame and EndLevel: the slots that have become live or vacant. An
//	                            object that was made and freed in between is missing
//	other members of Pools      not recorded
//	Frame and Level             a summary: the bytes in use when the frame or the level ended
//	scratch arenas              not recorded
//
// A tick of the trace is a frame. Thread 0 is the game goroutine, thread k+1 worker k. Without a trace Alloc, Free,
// FreeAny and Resize are not slower. With a trace an event costs about 50 ns, and a live block about 40 bytes of the
// Go heap. At four million live blocks the recording stops with an error.
//
// # Profiles
//
// With [Config.SampleBytes] the manager records the call stacks of some allocations in the tiers Slab, Large and Inbox,
// as the Go runtime does for its heap profile. [Inspector.EachSample] returns estimates for each call stack, and
// [Inspector.EachUse] exact sums without call stacks. meter.WriteProfile writes both as a file for go tool pprof.
//
// # Memory is returned during play
//
// After a peak, slab, large and the heaps of workers have more memory than they use. If this lasts for
// [Config.ReturnAfter] frames, EndFrame returns memory to the page source in steps, also between live blocks. If the
// use is steady, or its peaks repeat within ReturnAfter frames, EndFrame makes no system call. Memory that was returned
// is committed again when a block needs it, within the budget of its tier. [Inspector.Returned] counts the returned
// bytes. If the source refuses a step, play goes on, and [Inspector.ReturnErr] has the error. On [page.Heap], as in the
// browser and with -race, EndFrame returns nothing: Decommit would only zero the bytes.
//
//	Slab, Large, Inbox      in steps of 128 KiB, one heap in a frame: about 20 µs on Linux. Slab returns only
//	                        spans without a live block
//	Pools                   at Trim of a pool
//	Static                  at EndLevel
//	Frame, Level, scratch   at Close: the next frame, level or task uses the memory again
//
// # Use it when, and when not
//
// Use it for a game with frames and levels. An engine with other lifetimes uses the allocators directly: all
// allocators that this package uses are public.
//
// # Cost
//
//	operation                  cost
//	Frame, Level, Slab, Large  the allocator's own; the accessors inline
//	Alloc                      that of slab or large, and a call
//	Free, FreeAny              a range check, a byte of the route table, the allocator's own Free
//	Free of a static buffer    proportional to the plan
//	Resize                     as Free, with the allocator's own Resize
//	Tag.Alloc, and its Free    the manager's, and about 25 ns for the tag; see BenchmarkTag
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
// In this table a block grows from 4 to 600 KiB in steps of 128 bytes. After each step a block of 128 bytes is
// allocated. Under "freed" this small block is freed after the next step, under "kept" it stays live. The columns are
// the nanoseconds of a step, the number of times that the large block moved, and the bytes committed per byte that is
// live at the end:
//
//	                 freed: ns  moves  committed    kept: ns  moves  committed
//	manager                 30      1       1.44          24      1       1.15
//	a worker's heap         84      1       1.07          76      8       1.59
//	tlsf alone              37      1       1.07          54      8       1.59
//	append and make        263                           262
//
// go test ./memory/tiers -bench Grow$; Intel Xeon, Go 1.26.8, the lowest of 3 interleaved rounds of 60 runs, on a
// machine that was busy with other work. The rounds spread by a factor of two. The manager commits, beyond the large
// block, the first step of the slab. The other two heaps have a granule of 256 bytes, so a small block takes twice
// its size in them.
//
// The leak report of EndLevel adds no cost to an Alloc of slab, and one store to an Alloc of large: see
// slab.Heap.BeginEpoch.
//
// # Concurrency and the collector
//
// The manager belongs to the game goroutine, a [Worker] to its worker's goroutine, and a Freer to one goroutine.
// Worker.Stats is safe for concurrent use. Callbacks run on the game goroutine, with three exceptions. The hooks of a
// scratch arena run on the worker's goroutine. Functions that Config.Source calls run on the goroutine that commits or
// decommits memory. The io.Writer of Config.Trace runs on all of these goroutines, one at a time.
//
// Unless Config.GC has Keep, each manager paces the collector, for the whole process: see package gcpace and
// [Config.GC]. EndLevel runs a collection that became due in the level.
//
// # Source
//
// Lifetimes as tiers: Hanson (1990), see package arena. The route table, which finds the tier of an address, is the
// pagemap of Ghemawat and Menage, "TCMalloc: Thread-Caching Malloc" (2005), by regions of 1 MiB.
package tiers
