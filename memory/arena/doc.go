// Package arena holds the bump families: allocation advances an offset, and everything
// that was allocated since a point in time is freed at once.
//
// # The idea
//
// Most of a game's memory dies at a known moment: the end of the frame, of the level, of a
// parse. Then a block needs no header and no free of its own, and the whole cost is one
// addition, one comparison and one store.
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
//	Region    | 5 live | empty | 9 live |··| - - - -|        regions in one reservation
//	                                    ^off
//
//	Frames    | frame k   |···|  | frame k-1 |·····|        N Linears; Advance resets the oldest
//
// # Use it when, and when not
//
//	| type | use it for | not for |
//	|---|---|---|
//	| Linear | scratch with a known bound; nested scopes by Mark and Rewind | objects that die one by one |
//	| Frames | data of this frame that the next N-1 frames still read | data without a frame |
//	| Growing | everything of a level, a document, a load | unbounded streams: it never shrinks by itself |
//	| StepBack | attempts that are undone newest-first: parsers, level generators | marks, two ends: a stack.Stack |
//	| Region | blocks that die one by one, but in groups | blocks of mixed lifetimes: one holds its region |
//
// # Cost
//
//	| operation | cost | overhead |
//	|---|---|---|
//	| Linear.Alloc, New | about ten instructions, inlined, plus the zeroing of New | padding to the alignment |
//	| Growing.Alloc | the same behind a call; TryAlloc inlines | same |
//	| Mark, Rewind, Reset, Advance | constant, plus the hooks registered since | 8 bytes a mark |
//	| Free of Linear, Growing, Frames | constant; gives back the newest block only | none |
//	| Resize of Linear, Growing | constant; the newest block only, in place | none |
//	| StepBack.Alloc, Undo, UndoTo, Free | constant, one call | 8 bytes a block in the Go heap |
//	| Region.Alloc, Free | constant, one call | rounding to 16 bytes, a live bit per 16 bytes |
//
// External fragmentation cannot occur, save in a Region: there it is the tail of each region
// and the dead blocks beside a live one; at worst each region is held by one block. Internal
// fragmentation is the padding. The benchmarks of this package print the figures, with the
// Go heap beside them.
//
// # Concurrency and the collector
//
// One goroutine at a time. Blocks lie off the Go heap and hold no Go pointers; New demands
// the proof, a [memory.Type]. What owns a resource outside (a file, a texture) registers its
// release with OnReset: the hooks run newest-first before the bytes are reused.
//
// # Source
//
// Hanson, "Fast allocation and deallocation of memory based on object lifetimes", Software:
// Practice and Experience 20(1), 1990, for arenas by lifetime; the region marks follow
// Tofte and Talpin, "Region-based memory management", 1997. Counting the live objects of a
// region follows Gay and Aiken, "Memory management with explicit regions", PLDI 1998.
package arena
