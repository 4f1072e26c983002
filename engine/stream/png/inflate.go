package png

import (
	"compress/zlib"
	"errors"
	"hash/crc32"
	"io"
)

// inBytes of the file are read at once. With less the cost of a reader that takes a lock or reads a clock is
// noticeable; more does not help inflating, which takes single bytes.
const inBytes = 16 << 10

// An idats reads the data of one run of IDAT chunks as one stream. It has ReadByte, so that compress/flate does not
// add a buffer, which would read too far.
type idats struct {
	s        *stream
	pos, end int // the unread part of buf
	buf      [inBytes]byte
}

func (i *idats) ReadByte() (byte, error) {
	if i.pos == i.end {
		if err := i.fill(); err != nil {
			return 0, err
		}
	}
	b := i.buf[i.pos]
	i.pos++
	return b, nil
}

func (i *idats) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if i.pos == i.end {
		if err := i.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, i.buf[i.pos:i.end])
	i.pos += n
	return n, nil
}

// fill replaces the buffer, which was read completely.
func (i *idats) fill() error {
	s := i.s
	for s.left == 0 {
		if err := s.finish(); err != nil {
			return err
		}
		if err := s.next(); err != nil {
			return err
		}
		if s.chunk != idat {
			return s.fail(noMoreIDAT, ErrFormat)
		}
	}
	n, err := s.some(i.buf[:min(s.left, inBytes)])
	if err != nil {
		return err
	}
	s.crc = crc32.Update(s.crc, crc32.IEEETable, i.buf[:n])
	s.left -= uint32(n)
	i.pos, i.end = 0, n
	return nil
}

// inflate begins the zlib stream, in the first IDAT.
func (d *Decoder) inflate() error {
	d.in.s, d.in.pos, d.in.end = &d.s, 0, 0
	var err error
	if z, ok := d.z.(zlib.Resetter); ok {
		err = z.Reset(&d.in, nil)
	} else {
		d.z, err = zlib.NewReader(&d.in)
	}
	if err != nil {
		return d.damaged(err)
	}
	return nil
}

// inflated fills p.
func (d *Decoder) inflated(p []byte) error {
	if _, err := io.ReadFull(d.z, p); err != nil {
		return d.damaged(err)
	}
	return nil
}

// inflatedAll checks that nothing follows the rows, in the zlib stream and in its chunk.
func (d *Decoder) inflatedAll() error {
	var n int
	var err error
	for try := 0; n == 0 && err == nil; try++ {
		if try == 100 {
			err = io.ErrNoProgress
			break
		}
		n, err = d.z.Read(d.one[:])
	}
	switch {
	case n > 0:
		return d.s.fail(tooManyBytes, ErrFormat)
	case err != io.EOF:
		return d.damaged(err)
	case d.in.pos != d.in.end || d.s.left > 0:
		return d.s.fail(behindStream, ErrFormat)
	}
	return nil
}

// damaged returns why inflating failed: because of the data, or of the reader.
func (d *Decoder) damaged(err error) error {
	if d.s.failed != nil {
		return d.s.failed
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF { // the stream is complete and too short
		return d.s.fail(noMoreIDAT, ErrFormat)
	}
	if errors.Is(err, zlib.ErrChecksum) {
		return d.s.fail("the checksum of the pixel data is wrong", ErrFormat)
	}
	return d.s.fail("the pixel data is damaged: "+err.Error(), ErrFormat)
}
