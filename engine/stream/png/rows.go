package png

import "encoding/binary"

// A scan is where the pixels of a pass lie in the picture.
type scan struct{ x, y, dx, dy int }

var (
	whole = []scan{{0, 0, 1, 1}}
	adam7 = []scan{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}
)

// passes decodes the picture, row by row, straight to where the pixels belong.
func (d *Decoder) passes() error {
	scans := whole
	if d.head.Interlaced {
		scans = adam7
	}
	for _, p := range scans {
		// Pixels of the pass: from p.x on, each p.dx-th. A pass without any has no rows either.
		if n := (d.head.Width - p.x + p.dx - 1) / p.dx; n > 0 {
			if err := d.rows(p, n); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *Decoder) rows(p scan, n int) error {
	bytes := int(d.head.rowBytes(n))
	bpp := max(d.head.bitsPerPixel()/8, 1)
	clear(d.prev[:bytes]) // the filters take the row above the first to be zeros
	d.s.row = 0
	for y := p.y; y < d.head.Height; y += p.dy {
		if err := d.inflated(d.one[:]); err != nil {
			return err
		}
		cur, prev := d.cur[:bytes], d.prev[:bytes]
		if err := d.inflated(cur); err != nil {
			return err
		}
		if !unfilter(d.one[0], cur, prev, bpp) {
			return d.s.fail(badFilter, ErrFormat)
		}
		d.convert(d.pix[4*(y*d.head.Width+p.x):], 4*p.dx, cur, n)
		d.cur, d.prev = d.prev, d.cur
		d.s.row++
	}
	return nil
}

// convert writes the n pixels of a row to dst, one every step bytes.
func (d *Decoder) convert(dst []byte, step int, row []byte, n int) {
	switch {
	case d.head.Depth < 8:
		d.fromBits(dst, step, row, n)
	case d.head.Depth == 16:
		d.from16(dst, step, row)
	case d.head.Color == RGBA:
		fromRGBA(dst, step, row)
	case d.head.Color == RGB && d.useColorKey:
		d.fromKeyedRGB(dst, step, row)
	case d.head.Color == RGB:
		fromRGB(dst, step, row)
	case d.head.Color == GrayAlpha:
		for i := 0; len(row) >= 2; i, row = i+step, row[2:] {
			y := uint32(row[0])
			binary.LittleEndian.PutUint32(dst[i:], premultiplied(y, y, y, uint32(row[1])))
		}
	default:
		for i, v := range row {
			binary.LittleEndian.PutUint32(dst[i*step:], d.lut[v])
		}
	}
}

// fromBits reads samples of 1, 2 or 4 bits, the first in the highest bits.
func (d *Decoder) fromBits(dst []byte, step int, row []byte, n int) {
	depth := d.head.Depth
	per := 8 / depth
	for x := range n {
		v := row[x/per] << (x % per * depth) >> (8 - depth)
		binary.LittleEndian.PutUint32(dst[x*step:], d.lut[v])
	}
}

func fromRGBA(dst []byte, step int, row []byte) {
	for i := 0; len(row) >= 4; i, row = i+step, row[4:] {
		c := binary.LittleEndian.Uint32(row)
		switch a := c >> 24; a {
		case 0xff: // as they are; most pixels of most pictures are this or the next
		case 0:
			c = 0
		default:
			c = premultiplied(c&0xff, c>>8&0xff, c>>16&0xff, a)
		}
		binary.LittleEndian.PutUint32(dst[i:], c)
	}
}

func fromRGB(dst []byte, step int, row []byte) {
	for i := 0; len(row) >= 3; i, row = i+step, row[3:] {
		binary.LittleEndian.PutUint32(dst[i:], uint32(row[0])|uint32(row[1])<<8|uint32(row[2])<<16|black)
	}
}

func (d *Decoder) fromKeyedRGB(dst []byte, step int, row []byte) {
	key := uint32(d.transparent[0]&0xff) | uint32(d.transparent[1]&0xff)<<8 | uint32(d.transparent[2]&0xff)<<16 | black
	for i := 0; len(row) >= 3; i, row = i+step, row[3:] {
		c := uint32(row[0]) | uint32(row[1])<<8 | uint32(row[2])<<16 | black
		if c == key {
			c = 0
		}
		binary.LittleEndian.PutUint32(dst[i:], c)
	}
}

// from16 reads samples of 16 bits, high byte first.
func (d *Decoder) from16(dst []byte, step int, row []byte) {
	t, keyed := d.transparent, d.useColorKey
	at := func(i int) uint32 { return uint32(row[2*i])<<8 | uint32(row[2*i+1]) }
	size := d.head.bitsPerPixel() / 8
	for i := 0; len(row) >= size; i, row = i+step, row[size:] {
		var r, g, b, a uint32
		switch d.head.Color {
		case Gray:
			r, a = at(0), 0xffff
			g, b = r, r
			if keyed && r == uint32(t[0]) {
				a = 0
			}
		case GrayAlpha:
			r, a = at(0), at(1)
			g, b = r, r
		case RGB:
			r, g, b, a = at(0), at(1), at(2), 0xffff
			if keyed && r == uint32(t[0]) && g == uint32(t[1]) && b == uint32(t[2]) {
				a = 0
			}
		default:
			r, g, b, a = at(0), at(1), at(2), at(3)
		}
		binary.LittleEndian.PutUint32(dst[i:], premultiplied16(r, g, b, a))
	}
}
