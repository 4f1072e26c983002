package png

import "encoding/binary"

// opaque black in the table.
const black = 0xff << 24

// plainTable fills the table for a file without PLTE and tRNS. Each gray gets its value from black to white. For a
// palette all are opaque black, which image/png and libpng show for a sample outside the palette.
func (d *Decoder) plainTable() {
	d.useColorKey = false
	if d.head.Color == Palette {
		for i := range d.lut {
			d.lut[i] = black
		}
		return
	}
	if d.head.Color != Gray || d.head.Depth > 8 {
		return
	}
	last := uint32(1)<<d.head.Depth - 1
	for i := range d.lut {
		d.lut[i] = (uint32(i)&last)*(255/last)*0x010101 | black
	}
}

func (d *Decoder) readPalette() error {
	s := &d.s
	if d.head.Color == Gray || d.head.Color == GrayAlpha {
		return s.fail(misplaced, ErrFormat)
	}
	n := s.left / 3
	if s.left%3 != 0 || n < 1 || n > 256 || n > 1<<d.head.Depth {
		return s.fail(badLength, ErrFormat)
	}
	b := s.tmp[:3*n]
	if err := s.data(b); err != nil {
		return err
	}
	if d.head.Color != Palette { // a suggestion for screens with few colors
		return nil
	}
	for i := range d.lut[:n] {
		d.lut[i] = uint32(b[3*i]) | uint32(b[3*i+1])<<8 | uint32(b[3*i+2])<<16 | black
	}
	return nil
}

// readTransparency reads tRNS: an alpha for each color of a palette, or the one color that
// is transparent. Samples below 16 bits are compared with its low byte.
func (d *Decoder) readTransparency() error {
	s := &d.s
	n, most := s.left, uint32(0)
	switch d.head.Color {
	case Palette: // more than the palette has colors is accepted, as image/png does
		most = 256
	case Gray:
		most = 2
	case RGB:
		most = 6
	default:
		return s.fail(misplaced, ErrFormat)
	}
	if n > most || n < most && d.head.Color != Palette {
		return s.fail(badLength, ErrFormat)
	}
	b := s.tmp[:n]
	if err := s.data(b); err != nil {
		return err
	}
	switch {
	case d.head.Color == Palette:
		for i, a := range b {
			c := d.lut[i]
			d.lut[i] = premultiplied(c&0xff, c>>8&0xff, c>>16&0xff, uint32(a))
		}
	case d.head.Color == Gray && d.head.Depth <= 8:
		d.lut[b[1]] = 0
	default:
		d.useColorKey = true
		for i := range n / 2 {
			d.transparent[i] = binary.BigEndian.Uint16(b[2*i:])
		}
	}
	return nil
}

// premultiplied rounds as color.NRGBA.RGBA and image/draw do: to 16 bits, then down to 8.
func premultiplied(r, g, b, a uint32) uint32 {
	m := a * 0x101
	return r*m/255>>8 | g*m/255>>8<<8 | b*m/255>>8<<16 | a<<24
}

// premultiplied16 rounds as color.NRGBA64.RGBA does, and then down to 8 bits.
func premultiplied16(r, g, b, a uint32) uint32 {
	return r*a/0xffff>>8 | g*a/0xffff>>8<<8 | b*a/0xffff>>8<<16 | a>>8<<24
}
