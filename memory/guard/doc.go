// Package guard detects misuse by the callers of an allocator: writes outside a block, use after free, invalid frees,
// and leaks. [Allocator] wraps any allocator, [Stomp] replaces an allocator.
//
// # The idea
//
// Every block is allocated with canaries on both sides. A block is filled with one pattern when it is allocated and
// with another pattern when it is freed. Its record has the call stacks of the allocation and of the free. A freed
// block waits in quarantine before its allocator can reuse it. If the pattern changes during this time, the block was
// written through a dangling pointer.
//
// # Layout
//
//	inner block | FD FD … FD | CD CD CD … CD | FD FD … FD |      aligned as requested
//	             front canary  caller's bytes  back canary       DD DD … DD once freed
//	             padded to the alignment
//
//	Go heap     address -> record: size, state, call site of the allocation and of the free
//	            rings: live (oldest first) | quarantine (FIFO) | blocks that left it last
//
// [Stomp] is an allocator that gives each block its own pages, with inaccessible pages around them. A read or write
// behind the block, or of a freed block, faults at once in the line of the access.
//
//	Stomp       no access | FD … FD  block | no access | FD … FD  block | no access
//	                      whole granules   ^ ends where they do
//
// # Use it when, and when not
//
//	type                use it for                                do not use it for
//	------------------  ----------------------------------------  -----------------------------------------
//	Allocator           debug builds, tests, a level that         shipped builds; two guards around one
//	                    corrupts memory: wrap, run, read          allocator
//	  no quarantine     inner allocators that free in LIFO order  writes through dangling pointers
//	  Now, LeaksSince   the leaks of a level or a frame
//	Stomp               one suspect: the type of block that       many small blocks: 16,000 are the default
//	                    Allocator reports as overwritten          limit, and each takes 16 KiB; 8-byte
//	                                                              alignment leaves up to 7 bytes to a canary
//	neither                                                       loads within live blocks, races: those are
//	                                                              for -asan and -race
//
// # Cost
//
//	operation            cost                                      overhead
//	-------------------  ----------------------------------------  ----------------------------------------
//	Alloc                inner's, a stack trace of Config.Frames   two canaries; the front one padded to the
//	                     frames, two map operations, the fill      alignment
//	Free                 the same, and the comparison of the       the blocks in quarantine
//	                     canaries
//	leaving quarantine   the comparison of the block with the      none
//	                     pattern, and inner's Free
//	Reset                inner's, and the Free of all blocks       none
//	Check, Leaks, Close  proportional to the blocks and their      they allocate on the Go heap
//	                     bytes
//	metadata                                                       64 bytes and a map entry a block; 128 bytes
//	                                                               and a map entry a call site, once
//	Stomp.Alloc, Free    a system call, a stack trace, the fill    a granule of 16 KiB at least of memory,
//	                     or the comparison of the granules, page   two of address space; 56 bytes and a map
//	                     faults; a search of the vacant places     entry a place
//	                     once all have been used
//
// BenchmarkPair, a pair of Alloc and Free on a tlsf.Heap, in ns (AMD EPYC, two shared cores, Go
// 1.26.8, median of 6, spread within 5 %, of the Go heap 20 %):
//
//	bytes  bare  guarded  1 frame a site  quarantine of 1 MiB  Go heap, not freed
//	-----  ----  -------  --------------  -------------------  ------------------
//	   64    12      840             600                  984                  44
//	 1024    12      864             613                  920                 373
//
// Most of this time is for the two stack traces. Check takes 42 ns for a live block of 256 bytes.
//
// # Concurrency and the collector
//
// An Allocator or Stomp belongs to one goroutine at a time. The canaries and patterns lie in inner's memory, or in
// the pages of a Stomp. All metadata lies in the Go heap, where no overflow of a block reaches it. After a block was
// returned to inner, the guard keeps its address as a number, not as a pointer.
//
// # Source
//
// Robertson, Kruegel, Mutz and Valeur, "Run-time detection of heap-based overflows", LISA 2003, for the canaries.
// Perens, Electric Fence, 1987, for a block that ends at the end of its page. Serebryany, Bruening, Potapenko and
// Vyukov, "AddressSanitizer: a fast address sanity checker", USENIX ATC 2012, section 3, for the quarantine and for
// reports with both call sites.
package guard
