// Package page gets address space for the allocators of Strata, and gives it back.
//
// # The idea
//
// Address space is cheap, memory is not. A family reserves once, as much as it may ever
// need, and commits a growing prefix of it; so nothing moves when it grows, every block is
// one base and an offset, and a budget is a limit on commits.
//
// # Layout
//
//	Base                          Base+committed            Base+Size
//	  | readable, writable, zeroed |   inaccessible           | guard |
//	  ^ aligned to 64 KiB          ^ page boundary                     never handed out
//
// Where nobody chose a step, what a [Prefix] commits at once is 1/32 of what it has, from 16 to
// 256 KiB, and whole pages of the system, whatever their size.
//
// The guard behind each reservation makes Base+Size a legal pointer of the same object, and
// turns a run off the end into a fault on its line (on the heap backing: into a byte that
// belongs to the reservation and to nobody).
//
// # Use it when, and when not
//
// Use a [Prefix] to build an allocator; use a [Limit] to give one a budget. A game uses the
// families, or memory/tiers, and touches this package only to choose a [Source].
//
// # Cost
//
//	operation                                cost
//	Reserve, Release                         one system call
//	Commit                                   one system call per step, then a page fault
//	                                         (about 1 µs) per first touch of a page; with
//	                                         HugePages and Prefault all of them at once
//	Decommit                                 one system call
//	Prefix.Ensure within what is committed   one comparison
//	NewCarve                                 a comparison with each open Carve of the process
//
// # Concurrency and the collector
//
// [OS] and [Heap] may be used from several goroutines. [Prefix] and [Limit] belong to one.
// The collector neither scans nor moves what OS reserves; what Heap reserves is one Go
// object without pointers, kept by the Memory value, and the race detector and checkptr see it.
// Release unmaps: nobody may hold a pointer into the range, because a stale one may later
// look like a pointer into a Go span, which ends the process. Allocators therefore release in
// Close only, and a [Carve] that is closed before what stands on it tells them ([Watched]):
// they are closed then, too, and touch nothing.
//
// # Source
//
// Reserving and committing apart is the classic design of virtual memory allocators; see
// Hanson, "Fast allocation and deallocation of memory based on object lifetimes" (1990) for
// the arenas that stand on it, and the manual pages of mmap(2) and VirtualAlloc.
package page
