// Package png decodes PNG files into the caller's memory as premultiplied RGBA, the format of textures. It decodes
// the files that image/png decodes, with the exceptions below, to the same bytes as image/draw makes of their
// pictures. The decoded picture is never on the Go heap.
//
// # The idea
//
// A row is inflated, unfiltered with the row above it, and written as RGBA to its place in the caller's block. So
// only two rows of bounded length are on the Go heap. The size of the picture is read and compared with a limit
// before anything is allocated.
//
//	reader -> chunk, sum -> inflate 32 KiB window -> two rows <= 64 KiB -> block 4*W*H, the caller's
//	          in place                                unfilter             premultiply, de-interlace
//
// # Use it when, and when not
//
// Use it for pictures that become textures: many of them, streamed into off-heap blocks. Use image/png if a picture
// must keep its palette, its 16 bits or its unmultiplied colors, for rows above [MaxRowBytes], and for writing.
//
// It decodes gray, gray with alpha, RGB, RGBA and palettes with 1 to 16 bits, tRNS and Adam7. 16 bits are reduced to
// 8 after premultiplying. Gamma, color profiles and further frames of an animation are ignored.
//
// # What is refused
//
// All that image/png refuses, and of the files that it accepts:
//
//	pictures above the caller's limit, rows above MaxRowBytes     both are ErrTooLarge
//	unknown critical chunks, types that are not letters           required by the standard, 5.3 and 5.4
//	an IDAT separated from the one before by another chunk        required by the standard, 5.6
//	bytes after the zlib stream in the same IDAT                  image/png refuses or ignores them,
//	                                                              depending on its buffer
//	chunks above 2147483647 bytes                                 required by the standard, 5.3
//
// More rows than in the header are refused. IDAT chunks that follow the last row directly are ignored, as image/png
// does. The reader is left right after IEND. A sample that is not in the palette is opaque black, as with image/png
// and libpng.
//
// # Cost
//
//	kept by a Decoder on the Go heap       below 64 KiB, most of it compress/zlib's, and two rows
//	Go allocations of the first Decode     these, and as below
//	Go allocations of each further one     1 for the checksum of compress/zlib, and its tables of long
//	                                       codes, up to 256 bytes each, for each block of the file
//	                                       that has such codes; with an error also the error's
//	the caller's reader                    is called for at most 16 KiB at once
//
// Time is mostly spent in compress/flate. Between two reads only the bytes already read are decoded, and one byte may
// become a thousand bytes of pixels. A reader that checks for cancellation in each call checks more often if it
// returns fewer bytes.
//
// # Concurrency, determinism and the collector
//
// A [Decoder] belongs to one goroutine and takes no locks. The pixels are the same on every machine, as all
// arithmetic is in integers. The block may lie off the heap; neither it nor the reader is kept.
//
// # Source
//
// Portable Network Graphics (PNG) Specification, Third Edition, W3C, 2025, also ISO/IEC 15948;
// sections 5 (chunks), 8.2 (Adam7), 9 (filters), 11 (each chunk) and 13 (decoders). Rounding
// is that of Go's image/color and image/draw.
package png
