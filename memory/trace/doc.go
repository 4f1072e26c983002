// Package trace writes and reads allocation traces: files that list every allocation, free and resize of a program in
// order. A trace can be replayed against another allocator.
//
// # The idea
//
// A block is named by its number in the order of allocation. An event names a block by its distance from the newest
// block, so most events take three or four bytes. Events are collected in chunks with a checksum. If the recording
// program is killed, the file is readable up to its last whole chunk.
//
// # Layout
//
// A file is a header and chunks, with nothing between them. The last chunk is empty and marks the end of the
// recording. All fixed numbers are little endian. A checksum is a CRC-32C (Castagnoli).
//
//	header
//	0       magic "strtrac" 0x1A
//	8       version uint32           1
//	12      bytes of the program's name, uint32, at most 255
//	16      bytes of the unit, uint32, at most 255
//	20      the name, then the unit, as UTF-8 without control characters
//	        checksum of everything above, uint32
//
//	chunk
//	0       its number, from 0, uint32
//	4       method uint32            0: the events as they are; 1: raw DEFLATE, RFC 1951
//	8       stored bytes of the events, uint32, at most 1 MiB
//	12      bytes of the events without compression, uint32, at most 1 MiB
//	16      number of events, uint32
//	20      checksum of bytes 0 to 19 and of the stored bytes, uint32
//	24      the stored bytes
//
//	end     a chunk with method 0, no bytes and no events
//
// With method 0 both lengths are equal. Every chunk but the end has at least one event. No event continues in the
// next chunk.
//
// An event is one byte, then varints: seven bits a byte, the lowest first, with bit 7 set in all bytes but the last.
//
//	first byte   bits 0-2 kind; bits 3-6 tier; bit 7: a thread follows
//	thread       varint, 1 to 2^32-1; without it the thread is 0, the main one
//
//	kind         then
//	0 alloc      size varint; log2 of the alignment, one byte, at most 62
//	1 free       distance varint
//	2 resize     distance varint; new size varint
//	3 tick       nothing: a frame, request or other unit of the program has ended
//	4 level      1: a level begins; 0: it ends; varint
//	5 used       bytes varint: an arena had so many bytes in use when its tick or level ended, in place of blocks
//
// An alloc adds a block: the first block has number 0. A distance is the number of the newest block less the number
// of the named block, so 0 names the newest block. The named block must be live: allocated, and not freed. A resized
// block keeps its number, also if the program moved it.
//
// Sizes are the requested bytes, from 0 to 2^62. The alignment is what the program may rely on. For a block of
// malloc(n) that is min(16, largest power of two <= n), and 1 if n is 0. Tier 0 means none. The recorder chooses
// tiers 1 to 15; package tiers writes the number of the tier plus 1. The recorder numbers the threads, too.
//
// # Use it when, and when not
//
// Use it to compare allocators on the work of a real program, and to find what a program allocates in a tick. It
// records no contents, no addresses and no times.
//
// # Cost
//
//	operation        cost
//	Writer           about 10 ns an event, a buffer of 64 KiB, one write for each chunk
//	Writer, Compress a buffer of 1 MiB and the state of the compressor
//	Reader           one chunk; a bit for each block of the trace
//
// A [Reader] allocates memory in proportion to the bytes that it has read, even if a length in the file is forged.
//
// # Concurrency and the collector
//
// A Writer and a Reader each belong to one goroutine at a time.
package trace
