// Package arena has the bump allocators: an allocation advances an offset, and everything that was allocated
// since a point in time is freed at once.
//
// # The idea
//
// Most blocks of a game end at a known moment: with the frame, with the level, with a parse. Such a block needs no
// header and no Free. Its allocation costs a rounding, two additions, a few comparisons and two stores.
//
// # Layout
//
//	Linear    | a | b |  c  |······················|        one buffer, fixed size
//	                        ^off                   ^limit
//
//	Growing   | a | b |  c  |····|- - - - - - - - -|        one reservation, committed in steps
//	                        ^off ^limit            ^reserved
//
//	StepBack  | a | b |  c  |······················|        a Linear and a log of its steps
//	            ^   ^    ^steps                   ^limit
//
//	Region    | 5 live··| empty | 9 live |··| - - - -|       regions in one reservation
//	                  ^open              ^off
//
//	Window    | gone | kept, kept, kept |···········|        a Linear of one type; when it is full, the
//	                                    ^next                kept entries move to its front
//
//	Frames    | frame k   |···|  | frame k-1 |·····|        N Linears; Advance resets the oldest
//
// # Use it when, and when not
//
//	type      use it for                                  do not use it for
//	--------  ------------------------------------------  ------------------------------------------
//	Linear    scratch with a known bound; nested scopes   objects that are freed one by one
//	          with Mark and Rewind
//	Frames    data of this frame that the next N-1        data without a frame
//	          frames still read
//	Growing   everything of a level, a document, a load   unbounded streams: older blocks stay until
//	                                                      Rewind or Reset
//	StepBack  attempts that are undone newest first:      marks, two ends: use a stack.Stack
//	          parsers, level generators
//	Region    blocks that are freed one by one, but in    blocks of mixed lifetimes: one live block
//	          groups                                      keeps its region
//	Window    the last N of a stream, read as a slice:    a queue whose oldest entries are removed
//	          states to roll back to, inputs, a chat
//
// # Cost
//
//	operation                           cost                                   overhead
//	----------------------------------  -------------------------------------  ---------------------------
//	Linear.Alloc, New                   about a dozen instructions, inlined,   padding to the alignment
//	                                    plus the zeroing of New
//	Growing.Alloc                       the same behind a call; TryAlloc       the same
//	                                    inlines
//	Mark, Rewind, Reset, Advance        constant, plus the hooks registered    at most 40 bytes for a mark
//	                                    since
//	Region.Reset                        a bit for each 16 bytes of regions     none
//	                                    that were used
//	Free of Linear, Growing, Frames     constant, in Frames a look at each     none
//	                                    buffer; reclaims the newest block only
//	Resize of Linear, Growing           constant; the newest block only, in    none
//	                                    place
//	Resize of Region                    a word for each KiB of the old size;   none
//	                                    growth beyond the rounding: only the
//	                                    last block of its region
//	RefTo, Ref.Get                      constant; if blocks above the object   16 bytes for each reclaim
//	                                    were reclaimed, Get is a binary        that ended a Ref, few at a
//	                                    search                                 time
//	StepBack.Alloc, Undo, UndoTo, Free  constant, one call                     8 bytes for a block, in the
//	                                                                           Go heap
//	Region.Alloc, Free                  constant, one call; up to four open    rounding to 16 bytes, a live
//	                                    regions are tried if the current one   bit for 16 bytes
//	                                    is full
//	Window.Push                         a copy of the entry; once in           Capacity-Keep entries
//	                                    Capacity-Keep+1 calls a copy of
//	                                    Keep-1 more
//	Window.Last, At, Drop               constant                               none
//
// Only a Region has external fragmentation: the unused ends of regions that are not open, and freed blocks in a
// region with a live block. In the worst case each region is kept by one block. Internal fragmentation is the
// padding. The benchmarks of this package compare these costs with the Go heap.
//
// A Push of 24 bytes and a read of the last 16 of 64 entries, in ns. Each figure is the lowest of six short rounds of
// go test -bench Window, on an AMD EPYC with two cores that other processes use as well, with Go 1.26.8.
//
//	Window, Capacity 1.25, 2, 4, 16 times Keep            25.6, 22.2, 15.7, 16.7
//	ring, by modulo                                       72.3
//	ring, by the mask of a constant power of two          22.7
//	append and reslice, on the Go heap                    27.9
//
// # Concurrency and the collector
//
// One goroutine at a time. The collector does not scan blocks, so they must contain no Go pointers; New requires
// the proof, a [memory.Type]. An owner of an outside resource (a file, a texture) registers its release with
// OnReset: hooks run newest first, before the bytes are reused.
//
// # Misuse
//
// The following misuse panics with a *memory.Misuse before anything has changed. Package memory says what debug builds
// and memfast are:
//
//	                           Linear, Growing, Frames      StepBack     Region
//	-------------------------  ---------------------------  -----------  -----------------------------
//	foreign pointer            always                       always       always
//	wrong size                 the newest block: always;    always       past the bytes in use of its
//	                           older: into the newest, or                region; all in debug builds
//	                           in debug builds
//	interior pointer           the newest block: always;    always       always (memfast: not at a
//	                           older: in debug builds                    multiple of 16 bytes)
//	freed twice                a reclaimed block; else in   always       always (memfast: the last
//	                           debug builds                              block of a region)
//	expired mark or Ref        always (Get returns false)   no marks     no marks
//	stale pointer of a frame   faults in memdebug builds
//	arena of an older frame    in debug builds
//	use after Close            always                       always       always
//
// A double free is detected only until a new block uses the bytes. After that the second Free may free the new block.
//
// In a Linear a block of size 0 may have the address of the next block. A Free of size 0 at the start of a block with
// bytes therefore does nothing; debug builds tell the two blocks apart. A block of size 0 takes one byte in a StepBack
// and 16 bytes in a Region. Neither distinguishes it from a block of size 1.
//
// # Source
//
// Ross, "The AED Free Storage Package", Communications of the ACM 10(8), 1967, has zones that are freed as a whole.
// Hanson, "Fast allocation and deallocation of memory based on object lifetimes", Software: Practice and Experience
// 20(1), 1990, has arenas by lifetime. The marks are those of mark and release in UCSD Pascal, and of the obstacks in
// the GNU C library. Counting the live objects of a region follows Gay and Aiken, "Memory management with explicit
// regions", PLDI 1998. A Window is Knuth's sequential queue that is moved down (The Art of Computer Programming, volume
// 1, section 2.2.2). It has more capacity, so moves are rare.
package arena
