package png

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// MaxRowBytes is the longest row that is decoded, in bytes of the file after inflating, without the filter byte. A
// row of this length has 8,192 pixels of RGBA with 16 bits, 16,384 pixels of RGBA with 8 bits, or 65,536 pixels of a
// palette with 8 bits.
const MaxRowBytes = 64 << 10

// A ColorType is the standard's number for the samples of a pixel in the file.
type ColorType uint8

const (
	Gray      ColorType = 0
	RGB       ColorType = 2
	Palette   ColorType = 3
	GrayAlpha ColorType = 4
	RGBA      ColorType = 6
)

// A Header has the size and the pixel format of a PNG. If a function of this package returned it without
// an error, 8*Width*Height does not overflow an int.
type Header struct {
	Width, Height int       // in pixels, at least 1
	Depth         int       // bits per sample: 1, 2, 4, 8 or 16
	Color         ColorType // of the file; decoded pixels are always RGBA with 8 bits
	Interlaced    bool      // Adam7
}

// Bytes returns the length of the decoded picture: 4 bytes per pixel without padding.
func (h Header) Bytes() int { return 4 * h.Width * h.Height }

// bitsPerPixel of the file.
func (h Header) bitsPerPixel() int {
	switch h.Color {
	case RGB:
		return 3 * h.Depth
	case GrayAlpha:
		return 2 * h.Depth
	case RGBA:
		return 4 * h.Depth
	default:
		return h.Depth
	}
}

// rowBytes is the length of a row of n pixels in the file, without its filter byte. A row
// that check has accepted fits an int anywhere.
func (h Header) rowBytes(n int) int64 {
	return (int64(n)*int64(h.bitsPerPixel()) + 7) / 8
}

// ReadHeader reads the header of a PNG, 33 bytes, and nothing else from r. Every error is an [*Error], and the returned
// Header is then zero. For more than maxPixels pixels, for pictures that an int cannot address, and for rows above
// [MaxRowBytes], the error wraps ErrTooLarge. For an invalid header the error wraps ErrFormat.
//
// If the file ends early, the error wraps [io.ErrUnexpectedEOF]. If r fails, the error wraps the error of r. If
// maxPixels is below 1, ReadHeader refuses every picture. ReadHeader makes one small Go allocation, and more for an
// error.
func ReadHeader(r io.Reader, maxPixels int) (Header, error) {
	var s stream
	s.reset(r)
	h, err := s.header(maxPixels)
	if err != nil {
		return Header{}, s.located(err)
	}
	return h, nil
}

const signature = "\x89PNG\r\n\x1a\n"

// header reads the signature and the chunk IHDR.
func (s *stream) header(maxPixels int) (Header, error) {
	if err := s.read(s.tmp[:len(signature)]); err != nil {
		return Header{}, err
	}
	if string(s.tmp[:len(signature)]) != signature {
		return Header{}, s.fail(notPNG, ErrFormat)
	}
	if err := s.next(); err != nil {
		return Header{}, err
	}
	if s.chunk != ihdr {
		return Header{}, s.fail(wrongOrder, ErrFormat)
	}
	if s.left != 13 {
		return Header{}, s.fail(badLength, ErrFormat)
	}
	b := s.tmp[:13]
	if err := s.data(b); err != nil {
		return Header{}, err
	}
	if err := s.finish(); err != nil {
		return Header{}, err
	}
	return s.checked(b, maxPixels)
}

// checked returns the header of the 13 bytes of IHDR.
func (s *stream) checked(b []byte, maxPixels int) (Header, error) {
	w, h := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	depth, color := b[8], ColorType(b[9])
	if b[10] != 0 || b[11] != 0 || b[12] > 1 {
		return Header{}, s.fail(fmt.Sprintf("compression %d, filter %d, interlace %d, allowed are 0, 0, and 0 or 1", b[10], b[11], b[12]), ErrFormat)
	}
	if !color.has(depth) {
		return Header{}, s.fail(fmt.Sprintf("color type %d with %d bits, allowed are 0 with 1, 2, 4, 8, 16; 3 with 1, 2, 4, 8; 2, 4, 6 with 8, 16", color, depth), ErrFormat)
	}
	if w == 0 || h == 0 || w > math.MaxInt32 || h > math.MaxInt32 {
		return Header{}, s.fail(fmt.Sprintf("%d x %d pixels, allowed are 1 to 2147483647", w, h), ErrFormat)
	}
	// Up to here no product was formed; w*h is below 1<<62.
	most := min(int64(max(maxPixels, 0)), math.MaxInt/8)
	if int64(w)*int64(h) > most {
		return Header{}, s.fail(fmt.Sprintf("%d x %d pixels, allowed are %d in all", w, h, most), ErrTooLarge)
	}
	head := Header{int(w), int(h), int(depth), color, b[12] == 1}
	if n := head.rowBytes(head.Width); n > MaxRowBytes {
		return Header{}, s.fail(fmt.Sprintf("rows of %d bytes, allowed are %d", n, MaxRowBytes), ErrTooLarge)
	}
	return head, nil
}

// has reports whether the standard allows samples of so many bits.
func (c ColorType) has(depth uint8) bool {
	switch c {
	case Gray:
		return depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16
	case Palette:
		return depth == 1 || depth == 2 || depth == 4 || depth == 8
	case RGB, GrayAlpha, RGBA:
		return depth == 8 || depth == 16
	}
	return false
}
