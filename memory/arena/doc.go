// Package arena holds the bump families: allocation advances an offset, and everything
// that was allocated since a point in time is freed at once.
//
// # The idea
//
// Most of a game's memory dies at a known moment: the end of the frame, of the level, of a
// parse. Then a block needs no header and no free of its own, and the whole cost is a rounding,
// two additions, a few comparisons and two stores.
//
// # Layout
//
//	Linear    | a | b |  c  |······················|        one block, fixed size
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
//	Window    | gone | kept, kept, kept |···········|        a Linear of one type; full, it moves
//	                                    ^next                what is kept to its front
//
//	Frames    | frame k   |···|  | frame k-1 |·····|        N Linears; Advance resets the oldest
//
// # Use it when, and when not
//
//	type      use it for                                  not for
//	--------  ------------------------------------------  ------------------------------------------
//	Linear    scratch with a known bound; nested scopes   objects that die one by one
//	          by Mark and Rewind
//	Frames    data of this frame that the next N-1        data without a frame
//	          frames still read
//	Growing   everything of a level, a document, a load   unbounded streams: it never shrinks by
//	                                                      itself
//	StepBack  attempts that are undone newest-first:      marks, two ends: take a stack.Stack
//	          parsers, level generators
//	Region    blocks that die one by one, but in groups   blocks of mixed lifetimes: one holds its
//	                                                      region
//	Window    the last N of a stream, read as a slice:    a queue that is taken from at its old end
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
//	Mark, Rewind, Reset, Advance        constant, plus the hooks registered    40 bytes a mark
//	                                    since
//	Free of Linear, Growing, Frames     constant; gives back the newest block  none
//	                                    only
//	Resize of Linear, Growing           constant; the newest block only, in    none
//	                                    place
//	Resize of Region                    a word for each KiB of the old size;   none
//	                                    the last block of its region, in place
//	RefTo, Ref.Get                      constant; Get of an object that        16 bytes a cut that ended a
//	                                    outlived a cut above it is a search    Ref, few at a time
//	StepBack.Alloc, Undo, UndoTo, Free  constant, one call                     8 bytes a block in the Go
//	                                                                           heap
//	Region.Alloc, Free                  constant, one call; a look at up to    rounding to 16 bytes, a
//	                                    four open regions where the current    live bit per 16 bytes
//	                                    one does not have the room
//	Window.Push                         a copy of the entry; of Keep-1 more    Capacity-Keep entries
//	                                    once in Capacity-Keep+1 calls
//	Window.Last, At, Drop               constant                               none
//
// External fragmentation cannot occur, save in a Region: there it is the tail of each region
// that is not open and the dead blocks beside a live one; at worst each region is held by one block. Internal
// fragmentation is the padding. The benchmarks of this package print the figures, with the
// Go heap beside them.
//
// A Push of 24 bytes and a look at the last 16 of 64 entries, in ns (go test -bench Window; AMD
// EPYC, Go 1.26.8, two cores busy with other work as well: the lowest of six short rounds):
//
//	Window, room for 1.25, 2, 4, 16 times what is kept    25.6, 22.2, 15.7, 16.7
//	ring, by modulo                                       72.3
//	ring, by the mask of a constant power of two          22.7
//	append and reslice, on the Go heap                    27.9
//
// # Concurrency and the collector
//
// One goroutine at a time. Blocks lie off the Go heap and hold no Go pointers; New demands
// the proof, a [memory.Type]. What owns a resource outside (a file, a texture) registers its
// release with OnReset: the hooks run newest-first before the bytes are reused.
//
// # Misuse
//
// What is refused, always with a *memory.Misuse and before anything has changed:
//
//	                           Linear, Growing, Frames      StepBack     Region
//	-------------------------  ---------------------------  -----------  -----------------------------
//	foreign pointer            always                       always       always
//	wrong size                 the newest block: always;    always       past the bytes in use of its
//	                           older: into the newest, or                region; all in debug builds
//	                           in debug builds
//	interior pointer           the newest block: always;    always       always (memfast: not at a
//	                           older: in debug builds                    multiple of 16 bytes)
//	freed twice                what lay on top; else in     always       always (memfast: the last
//	                           debug builds                              block of a region)
//	mark or Ref of the past    always (a Ref says so)       no marks     no marks
//	stale pointer of a frame   faults in memdebug builds
//	use after Close            always                       always       always
//
// In a Linear a block of size 0 shares its address with the next one: a Free of size 0 where
// a block starts is taken for that one's and does nothing; debug builds tell them apart. A
// StepBack and a Region give it a byte and 16, and do not tell it from a block of size 1.
//
// # Source
//
// Hanson, "Fast allocation and deallocation of memory based on object lifetimes", Software:
// Practice and Experience 20(1), 1990, for arenas by lifetime; the region marks follow
// Tofte and Talpin, "Region-based memory management", 1997. Counting the live objects of a
// region follows Gay and Aiken, "Memory management with explicit regions", PLDI 1998. A Window
// is Knuth's sequential queue that is moved down (The Art of Computer Programming, volume 1,
// section 2.2.2), with room to make the moves rare.
package arena
