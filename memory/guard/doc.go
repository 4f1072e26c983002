// Package guard wraps any allocator and finds what its callers do wrong: writes outside a
// block, writes after a free, frees that are none, and blocks that nobody frees.
//
// # The idea
//
// Every block is asked for a little larger, with canaries on both sides, filled with a pattern
// when it is handed out and with another when it comes back, and remembered with the call
// stacks of both. A freed block waits in quarantine before its allocator may hand it out
// again; a pattern that changed meanwhile was written through a stale pointer.
//
// # Layout
//
//	inner block | FD FD … FD | CD CD CD … CD | FD FD … FD |      aligned as the caller asked
//	             front canary  caller's bytes  back canary       DD DD … DD once freed
//	             padded to the alignment
//
//	Go heap     address -> record: size, state, call site of the allocation and of the free
//	            rings: live (oldest first) | quarantine (FIFO) | the last ones that left it
//
// # Use it when, and when not
//
//	| use it for | not for |
//	|---|---|
//	| debug builds, tests, a level that corrupts memory: wrap, run, read | shipped builds |
//	| any memory.Allocator; without a quarantine also those that free in LIFO order only | two guards around one allocator |
//	| the leak report at the end of a level | loads and reads outside a block: -race and -asan see those |
//
// # Cost
//
//	| operation | cost | overhead |
//	|---|---|---|
//	| Alloc | inner's, a stack walk of Config.Frames frames, two map operations, the fill | two canaries; the front one padded to the alignment |
//	| Free | the same, and the comparison of the canaries | what waits in quarantine |
//	| leaving quarantine | the comparison of the block with the pattern, and inner's Free | – |
//	| Reset | inner's, and what all its blocks cost at Free | – |
//	| Check, Leaks, Close | proportional to the blocks and their bytes | they allocate on the Go heap |
//	| books | | 56 bytes and a map entry a block; 256 bytes and a map entry a call site, once |
//
// BenchmarkPair, a pair of Alloc and Free on a tlsf.Heap, in ns (AMD EPYC, two shared cores, Go
// 1.26.8, median of 6, spread within 5 %, of the Go heap 20 %):
//
//	| bytes | bare | guarded | 1 frame a site | quarantine of 1 MiB | Go heap, not freed |
//	|---|---|---|---|---|---|
//	| 64 | 12 | 840 | 600 | 984 | 44 |
//	| 1024 | 12 | 864 | 613 | 920 | 373 |
//
// Most of it is the two stack walks. Check takes 42 ns a live block of 256 bytes.
//
// # Concurrency and the collector
//
// One goroutine at a time. The canaries and patterns lie in inner's memory, all books in the
// Go heap, where no overflow reaches them. Nothing is kept of a block's bytes once inner has
// it back but its address as a number.
//
// # Source
//
// Robertson, Kruegel, Mutz and Valeur, "Run-time detection of heap-based overflows", LISA 2003,
// for the canaries; Serebryany, Bruening, Potapenko and Vyukov, "AddressSanitizer: a fast
// address sanity checker", USENIX ATC 2012, section 3, for the quarantine and for reports with
// both call sites.
package guard
