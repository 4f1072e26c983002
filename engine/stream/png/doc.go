// Package png decodes PNG files into memory that the caller brings, as premultiplied RGBA,
// which is what a texture takes. It decodes what image/png decodes, to the same bytes that
// image/draw makes of it, without the picture in between on the Go heap.
//
// # The idea
//
// A row is inflated, un-filtered against the row above it, and written as RGBA where it belongs
// in the caller's block. So only two rows are ever on the Go heap, whose length is bounded,
// and the size of the picture is known, and held to a limit, before anything is allocated.
//
//	reader -> chunk, sum -> inflate 32 KiB window -> two rows <= 64 KiB -> block 4*W*H, the caller's
//	          in place                                un-filter            premultiply, de-interlace
//
// # Use it when, and when not
//
// Use it for pictures of files, or of others, that go to a texture: streamed, many of them,
// into off-heap blocks. Use image/png when a picture must keep its palette, its 16 bits or
// its unmultiplied colors, when its rows are above [MaxRowBytes], and for writing.
//
// What is decoded: gray, gray with alpha, RGB, RGBA and palettes, 1 to 16 bits, tRNS, Adam7.
// 16 bits are cut to 8, after premultiplying. Gamma and color profiles are ignored, as are
// the further frames of an animation.
//
// # What is refused
//
// What image/png refuses, and besides, of what it accepts:
//
//	pictures above the caller's limit, rows above MaxRowBytes     both are ErrTooLarge
//	unknown critical chunks, types that are not letters           the standard wants it, 5.3 and 5.4
//	an IDAT behind another chunk that is behind an IDAT           the same, 5.6
//	bytes behind the zlib stream in the same IDAT                 image/png refuses or ignores them,
//	                                                              as its buffer happens to end
//	chunks above 2147483647 bytes                                 the same, 5.3
//
// More rows than the header says are refused. Ignored are, as with image/png, IDAT chunks
// that follow at once when the rows are complete; the reader is left right behind IEND. A sample
// that is in no palette is opaque black, as with image/png and libpng.
//
// # Cost
//
//	on the Go heap, kept by a Decoder      below 64 KiB, most of it compress/zlib's; two rows
//	Go allocations of a Decoder's first    these
//	Go allocations of each further one     1 for the sum of compress/zlib, and its tables of long
//	                                       codes, up to 256 bytes each, for each block of the file
//	                                       that has such codes; none besides, but for an error
//	the caller's reader                    is asked for 16 KiB at most at once, and before each
//
// Time is mostly compress/flate's. Between two reads at most what was read is decoded, and
// a byte may be a thousand pixel bytes: a reader that looks for a cancellation when it is
// called looks more often when it gives less at once.
//
// # Concurrency, determinism and the collector
//
// A [Decoder] belongs to one goroutine, and takes no locks. The pixels are the same on every
// machine: integers only. The block may lie off the heap; nothing keeps it, or the reader.
//
// # Source
//
// Portable Network Graphics (PNG) Specification, Third Edition, W3C, 2025, also ISO/IEC 15948;
// sections 5 (chunks), 8.2 (Adam7), 9 (filters), 11 (each chunk) and 13 (decoders). Rounding
// is that of Go's image/color and image/draw.
package png
