// Package memtest is the proof that every allocator of Strata passes, and that a foreign one
// may be put to.
//
// # The idea
//
// A [Subject] says how to make an allocator and what it promises. [Run] puts it through the
// conformance suite: sizes, alignments, books that are true, misuse that is refused, memory
// that is found again, blocks that are resized or grow, an end that can be had in any order. [Fuzz] interprets random bytes as
// a program of allocations and frees, beside a shadow model that knows what each block must
// contain; [Faults] repeats a program with every single call to the system failing, once and
// for good, or panicking; [EveryBit] holds Check to its word on corrupt books. What the suite
// is worth is tested too: on a gallery of allocators that each break one promise.
//
// # Layout
//
//	bytes --> interpreter --> allocator under test
//	               |               |
//	               +--> Shadow <---+   no overlap, in bounds, aligned, content intact,
//	                                   Check after every operation, counters that add up
//
// # Use it when, and when not
//
// Call Run, Fuzz and Faults from the test of each allocator; the more a Subject promises, the
// more is verified. The suite knows nothing of a family's own rules (order of frees, handles,
// marks): those need tests of their own, for which [Opened], [MustAlloc], [MustCheck],
// [Misuse], [Refuses], [Gifts], [EveryBit], [Keep], [Poisoned], [WriteIsTold], [CopiesAreNamed],
// [TrimAnywhere], [GrowsSeldom], [Leak] and the sources [Mortal], [Margins] and [Halfway] are what they have in common.
//
// # Cost
//
// The shadow keeps live blocks oldest first and compares a new one with each of them: an
// operation costs O(live) of the model, and the Check of the allocator.
//
// # Concurrency and the collector
//
// One goroutine, but for subjects that are Shared; everything of the model lies in the Go heap.
//
// # Source
//
// The shadow model is that of Claessen and Hughes, "QuickCheck" (2000), applied to state;
// the fault loop is SQLite's ("How SQLite Is Tested", anomaly testing).
package memtest
