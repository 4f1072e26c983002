// Package remote frees blocks from goroutines that do not own their allocator: a [Freer] collects freed blocks in
// batches, an [Inbox] receives the batches, and the owner drains the Inbox.
//
// # The idea
//
// An allocator that belongs to one goroutine needs no lock. Only frees from other goroutines need an atomic
// operation, and one operation can carry a whole batch. The batches are in two lists. A compare-and-swap pushes a
// batch, and a swap takes a whole list. A single batch is never popped, so the lists cannot have the ABA problem.
//
// # Layout
//
//	worker: Freer             any goroutine                      owner: Inbox
//
//	  | o o o · · · · · | --full or Flush, 1 CAS--> head -> batch -> batch
//	    current batch                                  | 1 Swap takes all
//	  ^                                                v
//	  | 1 Swap takes all                              rest -> FreeAny, block by block
//	empty <---------------1 CAS per emptied batch-------'
//
// If the target is a [RunFreer], as slab.Heap is, a batch is freed in one call.
//
// A batch is an array of 1 to 64 slots in the Go heap. If the [Target] has a range, the slots contain offsets from its
// Base; otherwise they contain pointers. Neither side reads or writes the freed block.
//
// # Use it when, and when not
//
// Use it if a worker decodes, simulates or uploads from a block that the game's goroutine allocated. Do not use it if
// both sides can share an arena of a frame or level, whose blocks are freed at once. A worker that allocates for
// itself should have its own heap and free its blocks there.
//
// Drain when the owner has time: at the start of the frame, bounded by DrainSome, and when an allocation fails. Flush
// before the worker waits: a block in an unfinished batch is live. Reset the inbox with its target.
//
// Free large blocks with Freer.Free, which takes their size. A batch is then pushed when it has Config.Batch blocks
// or Config.Bytes bytes, so large blocks do not wait in a batch that never fills.
//
// # What is caught
//
//	mistake                                           found
//	address outside the range of the [Target]         at Free, in the call that passes it
//	other foreign and interior addresses              by the target, at the drain
//	second free, the address not used again           by the target, at the drain
//	second free, both waiting when the owner looks    by the target, or in memdebug builds at the
//	                                                  drain before the block can be used again
//	free before the Reset of the target, arriving     by the epoch of its batch, if the owner calls
//	after it                                          Inbox.Reset with it: counted as Stale, not freed
//	Free, then the address is freed and allocated     in memdebug builds by the drain, if the target
//	again, or its target is reset without the inbox,  is [Generational]: the panic names the caller
//	before the drain                                  of Free. In others it frees the new block
//	Free after the address was freed and allocated    not: by its address it is a legal free of the
//	again, through an old copy of the pointer         new block
//	Free, Flush on a closed Freer                     at once
//	Freers that outlive the inbox                     their blocks are counted and reported
//
// Memdebug builds stand for all debug builds: with -tags memdebug or -race. In these builds a Freer records the
// generation of each block: the number of blocks that have started at its address so far. The owner compares the
// generation at the drain. A generation cannot show a mistake that happened before the call of FreeAny. A
// guard.Allocator around the target delays the reuse of freed blocks, and so detects such mistakes, too.
//
// # Cost
//
//	operation                       cost                                   overhead
//	Free, FreeAny                   one store; every Config.Batch calls    none
//	                                one CAS and one swap
//	Drain, Pending, nothing there   one atomic load, inlined               none
//	Drain                           one swap; per batch one CAS and one    8 bytes a slot,
//	                                FreeRun, else per block FreeAny        128 a batch
//	                                through the interface
//	Reset                           a mutex, a store per Freer; per        none
//	                                batch that waits one CAS
//	NewFreer                        a mutex and two Go allocations; about  288 bytes and
//	                                three more beyond the highest number   a batch
//	                                open at once
//
// The number of batches is the largest number that was ever in flight at once, plus one per Freer. If the owner never
// drains, this number grows until the target has no memory left. In the steady state nothing is allocated.
//
// The time of a block in ns, with the target's Alloc and FreeAny, in batches of 32 (go test -bench
// 'Pair|Cold|Remote/.*/batch=32|goheap'). Measured on an AMD EPYC with Go 1.26.8, with two cores that were busy with
// other work, too. The values are the lowest of 12 short rounds, which differ by a factor of two and more:
//
//	entries                    one goroutine   while marking   16 MiB, cold   two goroutines
//	array of offsets                     7.3            14.2            9.1             13.5
//	array of pointers                    9.0            27.4           11.5             16.2
//	chain through the blocks             5.3             7.9           12.7             12.7
//	pointers under a mutex               5.7            23.8            8.2             12.8
//	the Go heap                            -               -              -              158
//
// Offsets are faster than pointers because the collector has nothing to scan and no write barrier runs. Chains are
// faster for warm blocks and slower for cold blocks. Chains were rejected for other reasons. A late write of the
// program can overwrite the links. A double free turns the list into a cycle before it is detected. A mutex is as
// fast for one Freer, but the owner waits for a worker that was preempted with the mutex held. Offsets of 32 bits
// gained nothing on one goroutine and less than a tenth between two, and exclude targets above 4 GiB. Between two
// goroutines, batches of 64 took 9 % less than batches of 32, and batches of 8 took 13 % more.
//
// Some message-passing allocators collect the blocks of one slab at the sender, in a small cache with one place per
// slab (BatchIt). A run of blocks is then sent, checked and adopted as one. Such a cache was slower in this package.
// A block in flight is an offset in an array and is not touched. A slab.Heap keeps its free blocks on a stack per
// class, not on a list per slab. The cache would therefore save only the owner's lookup of the class, and would cost
// the sender more. FreeRun saves this lookup for blocks that happen to follow each other, and saves the calls.
//
// In ns a block, with Alloc (go test -bench Runs; AMD EPYC, Go 1.26.8, two cores busy with other work, too; the
// lowest of 8 rounds). A cache has 16 sets of 1, 2 or 4 ways, and up to 16 blocks in each way. W8 has blocks of 256
// bytes in order. Pictures have 1 to 64 KiB and effects 48 to 320 bytes; three senders free both in random order:
//
//	                       FreeAny   FreeRun   FreeRun and a cache of
//	                                           1 way    2 ways   4 ways
//	W8, one goroutine         13.0      10.0     14.6     14.5     14.3
//	W8, shuffled              12.3      11.3     28.1     23.5     22.3
//	pictures                  16.8      16.4     34.0     39.2     43.9
//	effects                   13.0      12.1     34.2     26.2     25.9
//	W8, two goroutines        28.2      25.5     29.0     28.5     27.5
//	W8, shuffled              27.5      24.0     43.7     35.5     42.2
//	pictures, four            34.9      37.9     59.1     64.8     73.8
//	effects, four             30.4      28.3     64.1     70.4     77.0
//
// # Concurrency and the collector
//
// The methods of the Inbox belong to the goroutine that owns the target, except NewFreer and Stats, which are safe
// for concurrent use. A Freer belongs to one goroutine at a time. Pushing is lock-free, and draining does not wait.
// NewFreer, Freer.Close, Stats, Check and Reset take a mutex, for at most a step per Freer. A worker's accesses to a
// block before Free happen before the owner's accesses after the drain.
//
// Either side may end first. Pushed blocks are freed even if their Freer was closed meanwhile. Blocks that are pushed
// after the inbox was closed are abandoned: Flush and Close report memory.ErrClosed, and the blocks stay live until
// the target's memory is released. If a Freer is dropped without Close, the blocks in its batch stay live until the
// target's memory is released, too. If the target has no range, an open Freer keeps pointers to blocks in the Go
// heap. Close all Freers of such a target before its memory is released.
//
// # Source
//
// List: Treiber, "Systems Programming: Coping with Parallelism", IBM RJ 5118, 1986.
//
// Thread-delayed free list: Leijen, Zorn and de Moura, "Mimalloc: Free List Sharding in Action", 2019, section 2.4.
//
// Batches that return in one operation: Liétar et al., "snmalloc: A Message Passing Allocator", 2019.
//
// Runs of one slab: Filardo and Parkinson, "BatchIt: Optimizing Message-Passing Allocators for Producer-Consumer
// Workloads: An Intellectual Abstract", ISMM 2024.
package remote
