// Package page reserves address space for allocators, commits memory to it, and returns both to the system.
//
// # The idea
//
// Address space is cheap, memory is not. An allocator reserves addresses once, as many as it may ever need, and
// commits a growing prefix of them. No block moves when the allocator grows. A block is a base and an offset. A
// budget is a limit on commits.
//
// # Layout
//
//	Base                          Base+committed            Base+Size
//	  | readable, writable, zeroed |   inaccessible           | guard |
//	  ^ aligned to 64 KiB          ^ page boundary                     never allocated
//
// By default each commit of a [Prefix] adds at least about 1/32 of the committed bytes, from 16 to 256 KiB, in whole
// pages of the system.
//
// The guard behind each reservation makes Base+Size a legal pointer into the same object. An access to the guard
// faults. With [Heap] the guard is at least 64 bytes that no block uses, and an access to it does not fault.
//
// # Holes
//
// [Prefix.Drop] returns memory between committed bytes. Linux limits the mappings of a process (vm.max_map_count:
// 65,530 by default), and Go ends the process if its heap needs a mapping more. So on Linux a hole keeps its mapping:
// the kernel takes the memory (MADV_DONTNEED), and the addresses stay accessible. A stale pointer into a hole reads
// zeros, and a write is not detected. In memdebug builds a hole is inaccessible, so both fault, and a hole costs two
// mappings. [Prefix.Trim] makes the whole pages behind its end inaccessible, in every build, except with [Heap].
//
// If transparent huge pages are set to "always", the kernel may make a part of a hole resident again, to build a huge
// page. A hole of a source with HugePages consists of whole huge pages, which the kernel leaves alone.
//
// # Overcommit
//
// Committed bytes are bytes that an allocator may use. Whether there is memory for them depends on the system:
//
//	Linux, vm.overcommit_memory 0 or 1   nothing is promised: a commit beyond the memory of the machine succeeds,
//	                                     and the kernel may end a process when it accesses the pages
//	Linux, vm.overcommit_memory 2        promised: a commit beyond the system's limit is a [*memory.Exhausted]; except in
//	                                     memdebug builds a hole stays promised until Trim: the system does not
//	                                     refuse a Fill, and others cannot have the memory
//	Windows                              promised: a commit beyond memory and page file is a [*memory.Exhausted]
//	other Unix                           the system's policy; by default mostly as Linux with 0
//	[Heap]                               all of the reservation is allocated at once; Commit does nothing
//
// By default vm.overcommit_memory is 0. Then only a budget ([Limit]) bounds what a process uses.
//
// # Use it when, and when not
//
// Use a [Prefix] to build an allocator, and a [Limit] to give an allocator a budget. A game uses the allocators or
// memory/tiers. It uses this package only to choose a [Source].
//
// # Cost
//
//	operation                                cost
//	Reserve, Release                         one system call
//	Commit                                   one system call for each step, then a page fault
//	                                         (about 1 µs) for the first access to each page; with
//	                                         HugePages and Prefault all of them at once
//	Decommit                                 one system call
//	Prefix.Ensure within committed memory    one comparison
//	NewCarve                                 one comparison with each open Carve of the process
//
// # Concurrency and the collector
//
// [OS] and [Heap] are safe for concurrent use. A [Prefix], [Limit] or [Carve] belongs to one goroutine at a time. The
// collector neither scans nor moves memory that OS reserves. A reservation of Heap is one Go object without pointers.
// Its [Memory] keeps the object alive; the race detector and checkptr check accesses to it.
//
// Release unmaps the memory, so there must be no pointer into it. Go may later map a span at the released address,
// and ends the process if it finds a pointer to a free part of the span. Allocators therefore release in Close only.
// A [Carve] that is closed closes its allocators, so they no longer touch the released memory (see [Watched]).
//
// # Source
//
// Separate reserving and committing is the classic design of virtual memory allocators: see the manual pages of mmap(2)
// and VirtualAlloc.
package page
