// Package memory defines the contract of Strata's allocators: the interfaces, the errors, the
// statistics, and typed helpers on top of them. It imports no allocator.
//
// # The idea
//
// A game knows when its memory ends: with the frame, with the level, with an entity, or never. Each of these lifetimes
// has an allocator that has less to do than a general heap. All these allocators take their memory from a page source,
// usually off the Go heap, and account for every byte. Those that return blocks by address implement one interface,
// [Allocator].
//
// A program that begins with Strata uses package tiers, a manager that contains most of these allocators. Package save
// copies all of it into a slot and back. Package meter and render/overlay show it.
//
// # Choosing
//
//	lifetime                                    sizes                                goroutines      use
//	known in advance, step by step              any                                  one             plan.Arena
//	this frame, or N frames                     any, bounded sum                     one             arena.Frames
//	a scope inside a frame                      any                                  one             arena.Linear with Mark and Rewind
//	the level, the document                     any                                  one             arena.Growing
//	undone in steps, newest first               any                                  one             arena.StepBack
//	short-lived groups, freed one by one        any, small                           one             arena.Region
//	the last N of a stream, as a slice          one type                             one             arena.Window
//	last in, first out, checked                 any                                  one             stack.Stack
//	long-lived and temporary in one buffer      any                                  one             stack.Double
//	growing both ways from a point              any                                  one             stack.Pivot
//	object by object                            one type, handles                    one             pool.Pool
//	object by object, some fields hot           two types, one handle                one             pool.Split
//	object by object                            one size                             one             pool.Blocks
//	block by block                              up to 4 KiB, mixed                   one             slab.Heap
//	block by block                              up to 4 KiB, mixed                   one per worker  slab.Cache
//	block by block                              above 4 KiB, or bounded worst case   one             tlsf.Heap
//	block by block                              powers of two: textures, meshes      one             buddy.Heap
//	block by block, few, in tools               any                                  one             freelist.Heap
//	block by block, compacted                   any, by handle                       one             compact.Heap
//	freed by another goroutine                  any                                  many to one     remote.Inbox in front of one of these
//	debugging a memory error                    any                                  one             guard.Allocator around one of these
//	small and large blocks; a second allocator  any                                  one, or any     package compose
//	all memory of a game                        all                                  all             tiers.Manager, which contains most of these
//
// [Grow] and [GrowSlice] change the size of a block of any [Allocator], in place if the allocator can.
// Package container has a growing array, a queue, a hash table and a table of strings. These containers take their
// memory from any [Baser] with one range of addresses.
//
// memory/README.md lists where the game of this repository uses each allocator.
//
// # Layout
//
//	your types --> typed helpers --> Allocator --> page.Source --> operating system
//	               Type[T] proof     metadata apart from the blocks
//
// # Cost
//
// A call through an interface costs about 1.5 ns more than an inlined call. Code that runs for each
// entity should use the concrete types. [New] and [MakeSlice] check their type on each call, which
// takes 3 ns. The constructors of the concrete allocators take a [Type], which is checked once.
//
// Misuse is detected by default, as far as the metadata shows it: see [Misuse]. The comment of each
// type says which misuse it does not detect, and in which build.
//
// Memory off the heap is not faster to use: the collector does not scan Go slices without pointers
// either. The gains are stable addresses, growth without copies, release at a chosen moment, bounded
// budgets, cheap creation of objects, and fewer pointers for the collector to follow.
//
// # Builds
//
//	go build                  misuse is detected as far as the metadata shows it
//	-tags memdebug, or -race  a debug build: freed memory is filled, sizes are compared to the byte, and most heaps
//	                          detect writes to freed memory; several times slower: the costs in comments are those
//	                          of other builds
//	-tags memfast             pool.Blocks, slab and arena.Region have no live bit: they are faster, and miss some double
//	                          frees and interior pointers
//
// # Concurrency and the collector
//
// An allocator belongs to one goroutine at a time unless its comment says otherwise. Off-heap memory must contain
// pointer-free types only ([PointerFree]): the collector frees an object whose only reference is off the heap. A small
// Go heap has a small goal, so collections become more frequent. Package heapsites reports which functions allocate
// there, and package gcpace paces the collections.
//
// # Sources
//
// The comment of each allocator's package names its sources. The contract follows Zig's std.mem.Allocator and Go's
// package io: one small interface, and capabilities found by type assertion.
package memory
