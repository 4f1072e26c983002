// Package memory is the contract of Strata's allocators: what they promise, the errors they
// return, the figures they report, and the typed helpers on top. It imports no family.
//
// # The idea
//
// A game knows when its memory dies: at the end of the frame, of the level, with the entity,
// or never. Each of those lifetimes has an allocator that is faster and more predictable
// than a general heap; here they stand behind one interface, off the Go heap, with every
// byte accounted for.
//
// # Choosing
//
//	lifetime                                 sizes                                goroutines      take
//	known in advance, pass by pass           any                                  one             plan.Arena
//	this frame, or N frames                  any, bounded sum                     one             arena.Frames
//	a scope inside a frame                   any                                  one             arena.Linear with Mark and Rewind
//	the level, the document                  any                                  one             arena.Growing
//	step by step, undone newest first        any                                  one             arena.StepBack
//	groups that die one by one, soon         any, small                           one             arena.Region
//	the last N of a stream, as a slice       one type                             one             arena.Window
//	last in, first out, checked              any                                  one             stack.Stack
//	long-lived and temporary in one buffer   any                                  one             stack.Double
//	growing both ways from a point           any                                  one             stack.Pivot
//	object by object                         one type, handles                    one             pool.Pool
//	object by object, some fields hot        two types, one handle                one             pool.Split
//	object by object                         one size                             one             pool.Blocks
//	block by block                           up to 4 KiB, mixed                   one             slab.Heap
//	block by block                           up to 4 KiB, mixed                   a worker each   slab.Cache
//	block by block                           above 4 KiB, or bounded worst case   one             tlsf.Heap
//	block by block                           powers of two: textures, meshes      one             buddy.Heap
//	block by block, few, in tools            any                                  one             freelist.Heap
//	block by block, and no holes allowed     any, by handle                       one             compact.Heap
//	freed by another goroutine               any                                  many to one     remote.Inbox before any of these
//	under suspicion                          any                                  one             guard.Allocator around any of these
//	any of these, put together               small here, large there; a way out   one, or any     compose.BySize, Fallback, Locked, Counted
//	all of a game                            all                                  all             tiers.Manager, which holds the above
//
// A block or slice that gets longer: [Grow] and [GrowSlice] on any of these, in place where they
// can. tlsf.Heap keeps room behind a block that has grown; the arenas and stacks resize the newest.
// A growing array, a queue, a hash table and a table of texts, by value in any of these that is a
// [Baser]: package container.
//
// And what the game of this repository does with each:
//
//	take                                   in the game
//	plan.Arena                             the passes that draw a frame
//	arena.Frames                           collision grid, hit lists
//	arena.Linear with Mark and Rewind      vertices when there is no plan
//	arena.Growing                          the order of spawns
//	arena.StepBack                         none: for parsers and generators
//	arena.Region                           none: its groups die with the frame
//	arena.Window                           none yet
//	stack.Stack                            none: marks do
//	stack.Double                           the loading of a level
//	stack.Pivot                            none: nothing does
//	pool.Pool                              announcements of enemies
//	pool.Split                             none: columns do
//	pool.Blocks                            chunks of component columns
//	slab.Heap                              trails
//	slab.Cache                             none: workers make pictures
//	tlsf.Heap                              the scorched ground, decoded pictures
//	buddy.Heap                             none: the atlas is the GPU's
//	freelist.Heap                          none: TLSF does
//	compact.Heap                           texts of scores
//	remote.Inbox before any of these       pictures go home
//	guard.Allocator around any of these    -guard
//	compose.BySize and the others          none: tiers.Manager is the composition
//	tiers.Manager, which holds the above   all of it
//
// # Layout
//
//	your types --> typed helpers --> Allocator --> family --> page.Source --> operating system
//	               Type[T] proof                   books in the Go heap, blocks outside
//
// # Cost
//
// An interface call costs about 1.5 ns more than an inlined one, so per-entity paths use the
// concrete types, and the interface stands at the seams. [New] and [MakeSlice] look their
// type up on each call; a [Type], made once, makes that free.
//
// Misuse is refused by default, exactly where the books can tell: see [Misuse], and the comment
// of each type for what it cannot see in which build.
//
// What being off the heap does not win: pointer-free Go slices are not scanned either. The
// wins are no copies on growth, stable addresses, release at a moment of your choosing,
// bounded budgets, cheap creation, and everything against designs full of pointers.
//
// # Concurrency and the collector
//
// An allocator belongs to one goroutine at a time. Off-heap memory holds pointer-free types
// only ([PointerFree]): what is referred to from there alone is collected. With little on the
// Go heap its goal shrinks and collections come more often; tiers.Manager paces them.
//
// # Sources
//
// Each family names its own. The shape of the contract follows Zig's std.mem.Allocator and
// Go's package io: one small interface, and capabilities found by type assertion.
package memory
