// Package remote frees blocks from goroutines that do not own their allocator: a [Freer]
// gathers them in batches, an [Inbox] receives the batches, and the owner drains it.
//
// # The idea
//
// An allocator that belongs to one goroutine needs no lock; only the way home for a block
// that died elsewhere needs an atomic operation, and one of them can carry a whole batch.
// Batches travel in two lists that are pushed by compare-and-swap and only ever taken whole
// by a swap: nobody pops one of many, so no list can meet ABA.
//
// # Layout
//
//	worker: Freer             any goroutine                      owner: Inbox
//
//	  | o o o · · · · · | --full or Flush, 1 CAS--> head -> batch -> batch
//	    current batch                                  | 1 Swap takes all
//	  ^                                                v
//	  | 1 Swap takes all                              rest -> FreeAny, block by block
//	 home <---------------1 CAS per emptied batch-------'
//
// Where the target is a [RunFreer], as slab.Heap is, what is in a batch goes there in one call.
//
// A batch is an array in the Go heap of 1 to 64 offsets from the target's base, if the
// target is [Based], or of pointers. The freed block itself is not touched by either side.
//
// # Use it when, and when not
//
// Use it where a worker decodes, simulates or uploads from a block that the game's goroutine
// allocated. Do not use it where both sides can share a frame or a level: those die at once.
// A worker that allocates for itself should free for itself, from its own heap.
//
// Drain where the owner has time: at the start of the frame, bounded by DrainSome, and when
// an allocation fails. Flush when the worker waits: a block in an unfinished batch is live.
// Reset the inbox with its target.
//
// Large blocks go by Free: a batch is pushed when it holds Config.Batch blocks or
// Config.Bytes bytes, so that a worker's memory does not wait in a batch that never fills.
//
// # What is caught
//
//	mistake                                           found
//	address outside the range of a [Based] target     at Free, on the line of the culprit
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
// In debug builds a Freer records with each block how many blocks have started at its address so far,
// its generation, and the owner compares when it drains. What happened before Freer.Free cannot be
// known from the address. A guard.Allocator around the target keeps freed blocks from being used
// again for a while, and so detects those too.
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
//	NewFreer                        a mutex; Go allocations only beyond    288 bytes and
//	                                the highest number open at once        a batch
//
// There are as many batches as were ever in flight together, plus one per Freer: an owner
// that never drains lets them grow until its own memory runs out. In the steady state
// nothing is allocated.
//
// What a block costs on its way, in ns, the target's alloc and FreeAny included, batches of
// 32 (go test -bench 'Pair|Cold|Remote/.*/batch=32|goheap'; AMD EPYC, Go 1.26.8, two cores
// busy with other work as well: the lowest of 12 short rounds, which spread by a factor of
// two and more):
//
//	entries                    one goroutine   while marking   16 MiB, cold   two goroutines
//	array of offsets                     7.3            14.2            9.1             13.5
//	array of pointers                    9.0            27.4           11.5             16.2
//	chain through the blocks             5.3             7.9           12.7             12.7
//	pointers under a mutex               5.7            23.8            8.2             12.8
//	the Go heap                            -               -              -              158
//
// Offsets lead pointers because the collector has nothing to scan and no barrier to run.
// Chains are ahead while the blocks are warm and behind when they are not, and they were
// turned down for another reason: their links lie where a late write of the program reaches
// them, and a double free closes the list to a ring before anyone can tell. A mutex is as
// fast for one Freer, but its owner waits for a worker that was preempted inside. 32-bit
// offsets gained nothing on one goroutine and under a tenth between two, and would shut out
// targets above 4 GiB. Between two goroutines batches of 64 took 9 % less than batches of
// 32, and batches of 8 took 13 % more.
//
// Message-passing allocators gather the blocks of one slab at the sender, in a small cache with
// a place for each slab, so that a run of them travels, is checked and is adopted as one (BatchIt).
// Here that lost: a block is an offset in an array and is not touched on its way, and the free
// blocks of a slab.Heap are on a stack by class and not on a list by slab, so that all there is to
// win at the owner is the lookup of the class, and to gather costs the sender more than that.
// FreeRun wins it for the blocks that happen to follow each other, and the call of each besides.
// In ns a block, Alloc included (go test -bench Runs; AMD EPYC, Go 1.26.8, two cores busy with
// other work as well: the lowest of 8 rounds). A cache is 16 sets of up to 16 blocks a way; W8 is
// 256 bytes in order, pictures are 1 to 64 KiB and effects 48 to 320 bytes, both of three senders
// in random order:
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
// The owner's side belongs to the goroutine that owns the target; each Freer to one
// goroutine; NewFreer and Stats to anyone. Pushing is lock-free, draining never waits; only
// NewFreer, Freer.Close, Stats, Check and Reset take a mutex, for a step per Freer.
// What a worker did with a block before Free happens before what the owner does after the
// drain.
//
// Either side may end first. What was pushed arrives when its Freer is long closed. When
// the inbox has closed, a push leads nowhere: its blocks are counted as abandoned and
// reported as memory.ErrClosed by Flush and Close; they stay live in the target until the
// target's memory goes, with which they go. A Freer that is dropped without Close keeps
// what it had not flushed, in the same sense. Without a base, such a Freer holds pointers
// in the Go heap: have the workers close theirs before the target's memory is released.
//
// # Source
//
// Treiber, "Systems Programming: Coping with Parallelism", IBM RJ 5118, 1986, for the list;
// Leijen, Zorn and de Moura, "Mimalloc: Free List Sharding in Action", 2019, section 2.4, for
// the thread-delayed free list; Liétar et al., "snmalloc: A Message Passing Allocator",
// 2019, for batches that return in one operation; Filardo and Parkinson, "BatchIt: Optimizing
// Message-Passing Allocators for Producer-Consumer Workloads: An Intellectual Abstract", ISMM
// 2024, for the runs of one slab.
package remote
