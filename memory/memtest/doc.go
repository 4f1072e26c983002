// Package memtest is the conformance suite that every allocator of Strata passes. The suite also tests foreign
// allocators.
//
// # The idea
//
// A [Subject] makes an allocator and declares the promises of the allocator. [Run] is the conformance suite: sizes,
// alignments, accurate statistics, misuse detection, reuse of freed memory, resizing and growth, Close in any order.
// [Fuzz] interprets random bytes as a program of allocations and frees, and compares the allocator with a shadow model
// of each block's contents. [Faults] repeats a program for each call of the source: the call fails once, fails
// permanently, or panics. [EveryBit] verifies Check on corrupt metadata. The suite itself is tested on a gallery of
// allocators that each break one promise.
//
// # Layout
//
//	bytes --> interpreter --> allocator under test
//	               |               |
//	               +--> Shadow <---+   no overlap, in bounds, aligned, content intact,
//	                                   Check after operations, counters that add up
//
// # Use it when, and when not
//
// Call Run, Fuzz and Faults from the test of each allocator, and [Saved] if the allocator is a save.State. [BenchSaved]
// prints what saving costs. The more a Subject promises, the more is verified. The suite does not test an allocator's
// own rules (order of frees, handles, marks). The other functions and sources of this package help to test such rules,
// for example [Opened], [Misuse], [Refuses], [CloseAtFaults], [SoftMark] and [Mortal].
//
// # Cost
//
// The shadow keeps live blocks oldest first and compares a new block with every live block. An operation costs
// O(live) in the model, and a Check of the allocator.
//
// With -short, and if the environment variable STRATA_TEST is neither full nor night, less is tested. Run plays at most
// 8 random programs instead of 40, Faults lets some calls fail instead of each, and Saved makes 40 rounds instead of
// 120. Set the variable to test an allocator of your own.
//
// # Concurrency and the collector
//
// A test uses one goroutine, except in [EveryBit] and for subjects with Shared. The model lies in the
// Go heap.
//
// # Source
//
// The shadow model follows Claessen and Hughes, "QuickCheck" (2000), applied to state; the fault loop is SQLite's
// ("How SQLite Is Tested", anomaly testing).
package memtest
