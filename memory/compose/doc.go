// Package compose builds allocators out of allocators: a second one for when the first is full,
// one for small blocks and one for large ones, a mutex around one, books around one.
//
// # The idea
//
// A policy that stands between a program and its memory is written once, against the contract,
// and not into each family. Each composition is an Allocator itself, so that they nest.
//
// # Layout
//
//	Fallback    Alloc --> first --full--> second          Free --> whose Owns says so
//	BySize      Alloc --> size <= Limit ? small : large   Free --> by the same rule
//	Locked      Alloc --> | mutex | --> inner
//	Counted     Alloc --> inner --> | address: size |     Free --> compared with it
//
// # Use it when, and when not
//
//	type      use it for                                   not for
//	--------  -------------------------------------------  -----------------------------------------
//	Fallback  an arena that is nearly always large         hiding that a budget is too small: the
//	          enough, and a heap for the rest              overlay shows the second one grow
//	BySize    a slab below, TLSF above: what               a size that the caller of Free does not
//	          tiers.Manager does, without the manager      know, unless a part is a memory.Owner
//	Locked    few allocations from many goroutines: a      workers that allocate all day: give each
//	          registry, a cache of assets                  a slab.Cache or a heap and an Inbox
//	Counted   an allocator that keeps no books; what one   overruns and call sites: that is a
//	          subsystem takes from a heap that many share  guard.Allocator
//
// # Capabilities
//
// Every composition has the methods of all the capabilities of package memory, so that one made
// of complete parts is complete. [Can] says which of them work on every block. Where a part
// lacks one, the methods do what can be done without it:
//
//	Resize                  false: nothing has changed
//	Trim                    the part is left as it is; errors.ErrUnsupported if none can
//	Check, Stats            the part is not in it
//	Close                   the part is left as it is, and out of reach
//	Base                    nil, as in a Fallback and a BySize, whose blocks lie in two ranges
//	Owns                    false for the part; NewFallback insists on one for its first
//	FreeAny, SizeOf, Reset  a *memory.Misuse that names the part, before anything has changed.
//	                        A Counted around the part makes up for the first two
//
// # Ends
//
// Close closes the parts, the first one first: leave it to the owner of a part that others use.
// A Close that fails has closed what could be; the composition is closed all the same, its
// error says which part is not, and another Close tries that again. Where a part panics out of
// its Close the next one goes on there, and until the first part has returned everything stays
// open. A part whose source ends first answers for itself: its Alloc fails with
// memory.ErrClosed, and so does the composition's.
//
// # Cost
//
//	operation       cost beyond the part's, whose calls go through an interface       overhead
//	--------------  ----------------------------------------------------------------  ---------
//	Fallback.Alloc  a test; where the first is full its refusal, then the second's    none
//	Fallback.Free   one Owns                                                          none
//	BySize          a comparison                                                      none
//	Locked          an uncontended mutex; goroutines that meet wait for each other    none
//	Counted         a probe of a hash table, two for Free                             16 bytes a
//	                                                                                  slot, at
//	                                                                                  most 3/4 full
//
// Nothing allocates on the Go heap but the table of a Counted, when more blocks are live than
// ever before. In ns for a pair of Alloc and Free of 64 bytes (go test -bench Pair; AMD EPYC,
// Go 1.26.8, two cores busy with other work as well: the lowest of six short rounds):
//
//	slab.Heap through memory.Allocator       6.7
//	BySize over slab and TLSF               10.0
//	Fallback, the first serves              12.6
//	Fallback, the first is full             20.2
//	Counted                                 27.4
//	Locked                                  36.6
//	Locked(Fallback(slab, BySize(…)))       37.2
//	the Go heap                             47.7
//
// # Concurrency and the collector
//
// A Locked serves any goroutine. Every other composition belongs to one at a time, as its parts
// do. The table of a Counted holds addresses as numbers: nothing in it is scanned.
//
// # Source
//
// Berger, Zorn and McKinley, "Composing high-performance memory allocators", PLDI 2001; the
// vocabulary is that of Alexandrescu, "std::allocator Is to Allocation what std::vector Is to
// Vexation", CppCon 2015 (FallbackAllocator, Segregator, AllocatorWithStats).
package compose
