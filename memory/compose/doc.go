// Package compose builds allocators from allocators. It has a fallback for a full allocator, a choice by size, a
// mutex around an allocator, and statistics around an allocator.
//
// # The idea
//
// A policy, such as a fallback or a lock, is written once against the contract of package memory, not once in each
// allocator. Each composition is an [Allocator] itself, so compositions nest.
//
// # Layout
//
//	NewFallback    Alloc --> first --full--> second          Free --> first.Owns ? first : second
//	NewBySize      Alloc --> size <= limit ? small : large   Free --> by the same rule
//	NewLocked      Alloc --> | mutex | --> inner
//	NewCounted     Alloc --> inner --> | address: size |     Free --> compared with the record
//
// # Use it when, and when not
//
//	constructor  use it for                                   do not use it for
//	-----------  -------------------------------------------  -----------------------------------------
//	NewFallback  an arena that is nearly always large         hiding that a budget is too small: the
//	             enough, and a heap for the rest              overlay shows the second part grow
//	NewBySize    a slab below, TLSF above, without a          three or more classes: that is a slab.Heap
//	             tiers.Manager
//	NewLocked    few allocations from many goroutines: a      workers that allocate all the time: give each
//	             registry, a cache of assets                  a slab.Cache, or a heap and an Inbox
//	NewCounted   an allocator without statistics; the         overruns and call sites: that is a
//	             share of one subsystem in a common heap      guard.Allocator
//
// # Capabilities
//
// A composition implements an optional interface of package memory if and only if the interface works on every block,
// so a type assertion can be relied on. See [Allocator] for the rules. Four interfaces are not optional: the parts of
// NewFallback, NewBySize and NewLocked must have Owns, Stats, Check and Close. NewCounted accepts any allocator and
// adds what is missing.
//
// A composition is saved with its parts: see package save. Do not add the parts to the Set as well.
//
// # Close
//
// Close closes the parts, beginning with the first part. Do not close a composition if others use its parts. If Close
// of one of two parts fails, the other part is closed nevertheless, and the composition is closed. The error names the
// part that failed, and another Close tries again to close this part. If Close of the first part panics, nothing is
// closed. The allocator of NewLocked is closed if and only if its part is. See [NewCounted] for its Close.
//
// After Close, Alloc fails with memory.ErrClosed, Owns returns false, and the other methods panic with a *memory.Misuse
// or do what the closed parts do. If the memory of a part ends before Close, each Alloc that is passed to this part
// fails with memory.ErrClosed.
//
// # Cost
//
//	operation          beyond the part's cost, whose calls go through an interface     overhead
//	-----------------  --------------------------------------------------------------  ---------------------
//	Fallback: Alloc    one test; if the first is full, its failed Alloc                none
//	Fallback: Free     one Owns, as for each call with a block                         none
//	BySize             one comparison                                                  none
//	Locked             an uncontended mutex; goroutines that meet wait                 none
//	Counted            two probes of a hash table for each Alloc and Free              16 bytes for a slot,
//	                                                                                   at most 3/4 are taken
//
// Times are in ns for a pair of Alloc and Free of 64 bytes: go test -bench Pair on an AMD EPYC, Go 1.26.8. Each is
// the lowest of sixty rounds of 20,000 pairs (the Go heap: 25 of 400,000), on two cores that other processes use as
// well.
//
//	slab.Heap through memory.Allocator       6.9
//	BySize over slab and TLSF               12.1
//	Fallback, the first serves              14.3
//	Locked                                  18.2
//	Fallback, the first is full             20.0
//	Locked(Fallback(slab, BySize(…)))       26.5
//	Counted                                 26.9
//	the Go heap                             33.6
//
// # Concurrency and the collector
//
// The allocator of NewLocked is safe for concurrent use. Every other composition belongs to one goroutine at a
// time, as its parts do. The table of NewCounted stores addresses as numbers, so the collector scans nothing.
//
// # Source
//
// Berger, Zorn and McKinley, "Composing high-performance memory allocators", PLDI 2001. The terms are those of
// Alexandrescu, "std::allocator Is to Allocation what std::vector Is to Vexation", CppCon 2015
// (FallbackAllocator, Segregator, AllocatorWithStats).
package compose
