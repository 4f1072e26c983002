// Package png decodes PNG files into the caller's memory as premultiplied RGBA, the format of textures. With the
// exceptions below it decodes all files that image/png decodes. The result has the same bytes as image/png and
// image/draw together produce. The decoder itself keeps no decoded picture on the Go heap.
//
// # The idea
//
// A Decoder inflates a row, unfilters it with the row above, and writes it as RGBA to its place in the caller's
// block. So of the picture only two rows of bounded length are on the Go heap. The Decoder compares the size of the
// picture with a limit before it allocates rows or calls for the block.
//
//	reader -> chunk, sum -> inflate 32 KiB window -> two rows <= 64 KiB -> block 4*W*H, the caller's
//	          in place                                unfilter             premultiply, de-interlace
//
// # Use it when, and when not
//
// Use it for pictures that become textures: many of them, streamed into off-heap blocks. Use image/png if a picture
// must keep its palette, its 16 bits or its unmultiplied colors, for rows above [MaxRowBytes], and for writing.
//
// Package png decodes gray, gray with alpha, RGB, RGBA and palettes with 1 to 16 bits, tRNS and Adam7. 16 bits are
// reduced to 8 after premultiplying. Gamma, color profiles and further frames of an animation are ignored.
//
// # What is refused
//
// Package png refuses all files that image/png refuses. In addition it refuses:
//
//	pictures above the caller's limit, rows above MaxRowBytes     both are ErrTooLarge
//	unknown critical chunks, types that are not letters           required by the standard, 5.3 and 5.4
//	an IDAT separated from the one before by another chunk        required by the standard, 5.6
//	bytes after the zlib stream in the same IDAT                  image/png refuses or ignores them,
//	                                                              depending on its buffer
//	chunks above 2147483647 bytes                                 required by the standard, 5.3
//
// More rows than in the header are refused. IDAT chunks that directly follow the end of the zlib stream are ignored,
// as image/png does. After success the reader is left right after IEND. A sample that is not in the palette is black
// and has the alpha of tRNS, or is opaque, as with image/png.
//
// # Cost
//
//	kept by a Decoder on the Go heap       below 64 KiB, most of it compress/zlib's, and two rows
//	Go allocations of each Decode          1 for the checksum of compress/zlib, and its tables of long
//	                                       codes, up to 256 bytes each, for each block of the file
//	                                       that has such codes; with an error also the error's
//	of the first Decode, in addition       what the Decoder keeps
//	the caller's reader                    is called for at most 16 KiB at once
//
// Time is mostly spent in compress/flate. Between two reads only the bytes already read are decoded, and one byte may
// become a thousand bytes of pixels. If the caller's reader checks for cancellation in each call, let it return few
// bytes a call, so that it checks often.
//
// # Concurrency, determinism and the collector
//
// A [Decoder] belongs to one goroutine and takes no locks. The pixels are the same on every machine, as all
// arithmetic is in integers. The block may lie off the heap; the Decoder keeps neither the block nor the reader.
//
// # Source
//
// Portable Network Graphics (PNG) Specification, Third Edition, W3C, 2025, also ISO/IEC 15948; sections 5 (chunks),
// 8.2 (Adam7), 9 (filters), 11 (each chunk) and 13 (decoders). Values are rounded as in Go's image/color and
// image/draw.
package png
