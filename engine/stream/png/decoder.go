package png

import (
	"fmt"
	"io"
	"math/bits"
	"sync"
)

// A Decoder decodes one picture after the other. The zero Decoder is ready for use. A Decoder belongs to one
// goroutine and must not be copied after its first use.
//
// Between pictures a Decoder keeps less than 64 KiB on the Go heap, including the zlib reader. In addition it keeps
// two rows of the widest picture so far. A row is rounded up to a power of two bytes and never above [MaxRowBytes].
type Decoder struct {
	_    [0]sync.Mutex // go vet reports copies; the zlib reader points into the Decoder
	s    stream
	in   idats
	z    io.ReadCloser // a zlib.Resetter; nil before the first picture
	one  [1]byte
	head Header
	cur  []byte // the row that is decoded
	prev []byte // the one above it in the same pass
	pix  []byte // the caller's, during Decode

	lut         [256]uint32 // gray and palette up to 8 bits: sample to RGBA, red in the low byte
	transparent [3]uint16   // the samples of the one transparent color
	useColorKey bool        // there is one, and the color type is RGB or Gray with 16 bits
}

// Decode reads one PNG from r up to its last chunk, IEND, and not a byte more. After an error Decode may have read
// less. Decode checks the header and maxPixels as [ReadHeader] does. It reads all chunks before the pixels, and then
// calls dst once. If an error occurs before, Decode does not call dst.
//
// The function dst returns a block of at least Header.Bytes bytes. The block may lie off the heap. Decode writes the
// first Header.Bytes bytes of the block: rows from the top without padding, premultiplied RGBA with 8 bits. Decode
// does not change further bytes of the block. Decode neither reads nor keeps the block. After an error the content of
// the block is unspecified.
//
// If the header is accepted, Decode returns it even with an error. If not, it returns the zero Header. For an error of
// the file or of r, Decode returns an [*Error] that wraps the cause. If the file ends early, the cause is
// [io.ErrUnexpectedEOF]. An error of dst is returned unchanged. If the block is too short, the error wraps
// [io.ErrShortBuffer].
//
// The package comment lists all allocations of Decode on the Go heap, under Cost.
func (d *Decoder) Decode(r io.Reader, dst func(Header) ([]byte, error), maxPixels int) (Header, error) {
	d.s.reset(r)
	defer d.letGo()
	h, err := d.s.header(maxPixels)
	if err != nil {
		return Header{}, err
	}
	d.head = h
	if err := d.chunksInFront(); err != nil {
		return h, err
	}
	if d.pix, err = dst(h); err != nil {
		return h, err
	}
	if len(d.pix) < h.Bytes() {
		return h, fmt.Errorf("png: the block has %d bytes, the picture needs %d: %w", len(d.pix), h.Bytes(), io.ErrShortBuffer)
	}
	d.pix = d.pix[:h.Bytes():h.Bytes()] // nothing after it can be written
	if err := d.pixels(); err != nil {
		return h, err
	}
	return h, d.chunksBehind()
}

// letGo drops references to what belongs to the caller.
func (d *Decoder) letGo() { d.s.r, d.s.pending, d.s.failed, d.pix = nil, nil, nil, nil }

// pixels decodes the contents of the IDAT chunks.
func (d *Decoder) pixels() error {
	d.reserve(int(d.head.rowBytes(d.head.Width)))
	if err := d.inflate(); err != nil {
		return err
	}
	if err := d.passes(); err != nil {
		return err
	}
	d.s.row = -1
	return d.inflatedAll()
}

// reserve makes the two rows long enough. Powers of two: at most 17 growths in a life.
func (d *Decoder) reserve(n int) {
	if n > len(d.cur) {
		n = 1 << bits.Len(uint(n-1))
		d.cur, d.prev = make([]byte, n), make([]byte, n)
	}
}

// chunksInFront reads up to the first IDAT: IHDR, then PLTE, then tRNS, and ancillary
// chunks anywhere.
func (d *Decoder) chunksInFront() error {
	d.plainTable()
	var palette, alpha bool
	for s := &d.s; ; {
		if err := s.next(); err != nil {
			return err
		}
		var err error
		switch {
		case s.chunk == idat:
			if d.head.Color == Palette && !palette {
				return s.fail(wrongOrder, ErrFormat)
			}
			return nil
		case s.chunk == plte && !palette && !alpha:
			palette, err = true, d.readPalette()
		case s.chunk == trns && !alpha && (palette || d.head.Color != Palette):
			alpha, err = true, d.readTransparency()
		default:
			err = d.pass()
		}
		if err == nil {
			err = s.finish()
		}
		if err != nil {
			return err
		}
	}
}

// chunksBehind reads from the end of the last row to IEND. IDAT chunks that directly follow the last needed one are
// ignored, as image/png does: some programs end with an empty one.
func (d *Decoder) chunksBehind() error {
	s := &d.s
	for run := true; ; {
		if err := s.finish(); err != nil {
			return err
		}
		if err := s.next(); err != nil {
			return err
		}
		switch {
		case s.chunk == iend && s.left > 0:
			return s.fail(badLength, ErrFormat)
		case s.chunk == iend:
			return s.finish()
		case s.chunk == idat && !run:
			return s.fail(apart, ErrFormat)
		case s.chunk == idat:
			if err := d.ignore(); err != nil {
				return err
			}
		default:
			run = false
			if err := d.pass(); err != nil {
				return err
			}
		}
	}
}

// pass ignores a chunk that may be ignored.
func (d *Decoder) pass() error {
	switch c := d.s.chunk; {
	case c == ihdr || c == plte || c == trns || c == iend:
		return d.s.fail(wrongOrder, ErrFormat)
	case !c.ancillary():
		return d.s.fail(unknownCritical, ErrFormat)
	}
	return d.ignore()
}

// ignore reads the chunk's data and forgets it.
func (d *Decoder) ignore() error {
	for d.s.left > 0 {
		if err := d.s.data(d.in.buf[:min(d.s.left, inBytes)]); err != nil {
			return err
		}
	}
	return nil
}
