package png

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
)

// tableBytes is the longest data of a chunk that is kept completely: the 256 colors of a palette.
const tableBytes = 3 * 256

// A fourCC is the type of a chunk, as an integer of its four letters.
type fourCC uint32

const (
	ihdr fourCC = 'I'<<24 | 'H'<<16 | 'D'<<8 | 'R'
	plte fourCC = 'P'<<24 | 'L'<<16 | 'T'<<8 | 'E'
	trns fourCC = 't'<<24 | 'R'<<16 | 'N'<<8 | 'S'
	idat fourCC = 'I'<<24 | 'D'<<16 | 'A'<<8 | 'T'
	iend fourCC = 'I'<<24 | 'E'<<16 | 'N'<<8 | 'D'
)

// ancillary chunks may be ignored: their first letter is a small one.
func (c fourCC) ancillary() bool { return c&(0x20<<24) != 0 }

func (c fourCC) String() string {
	return string([]byte{byte(c >> 24), byte(c >> 16), byte(c >> 8), byte(c)})
}

func (c fourCC) letters() bool {
	for shift := 0; shift < 32; shift += 8 {
		if b := byte(c>>shift) | 0x20; b < 'a' || b > 'z' {
			return false
		}
	}
	return true
}

// A stream takes chunks from a reader, one at a time and not a byte too many.
//
//	| length | type |      data       | crc | length | type | ...
//	                ^ next     ^ left       ^ finish
type stream struct {
	r       io.Reader
	pending error                // what r returned together with bytes; due when these are used up
	failed  error                // the failure, which a zlib reader in between may have reworded
	off     int64                // bytes taken from r
	left    uint32               // bytes of the chunk's data that are still in r
	crc     uint32               // of the chunk, as far as it was read
	chunk   fourCC               // 0 before the first
	row     int                  // being decoded; -1 outside the rows
	tmp     [tableBytes + 4]byte // data, followed by a checksum
}

func (s *stream) reset(r io.Reader) { *s = stream{r: r, row: -1} }

// fail makes the Error and keeps it.
func (s *stream) fail(problem string, err error) error {
	e := &Error{Problem: problem, Offset: s.off, Row: s.row, Err: err}
	if s.chunk != 0 {
		e.Chunk = s.chunk.String()
	}
	s.failed = e
	return e
}

// located returns the stored failure, or err if there is none.
func (s *stream) located(err error) error {
	if s.failed != nil {
		return s.failed
	}
	return err
}

// some reads at least one byte.
func (s *stream) some(p []byte) (int, error) {
	for try := 0; s.pending == nil; try++ {
		n, err := s.r.Read(p)
		if n < 0 || n > len(p) {
			return 0, s.fail("the reader broke its contract", errors.New("impossible count of bytes"))
		}
		s.off += int64(n)
		s.pending = err
		if n > 0 {
			return n, nil
		}
		if err == nil && try == 100 { // as many as bufio allows
			s.pending = io.ErrNoProgress
		}
	}
	if s.pending == io.EOF || s.pending == io.ErrUnexpectedEOF {
		return 0, s.fail(truncated, io.ErrUnexpectedEOF)
	}
	return 0, s.fail("the reader failed", s.pending)
}

// read fills p.
func (s *stream) read(p []byte) error {
	for len(p) > 0 {
		n, err := s.some(p)
		if err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// next reads the length and the type of a chunk.
func (s *stream) next() error {
	b := s.tmp[:8]
	if err := s.read(b); err != nil {
		return err
	}
	s.left, s.chunk = binary.BigEndian.Uint32(b), fourCC(binary.BigEndian.Uint32(b[4:]))
	s.crc = crc32.Update(0, crc32.IEEETable, b[4:])
	if !s.chunk.letters() {
		return s.fail(badType, ErrFormat)
	}
	if s.left > math.MaxInt32 {
		return s.fail(longChunk, ErrFormat)
	}
	return nil
}

// data fills p from the chunk's data; the caller knows that there is as much.
func (s *stream) data(p []byte) error {
	if err := s.read(p); err != nil {
		return err
	}
	s.left -= uint32(len(p))
	s.crc = crc32.Update(s.crc, crc32.IEEETable, p)
	return nil
}

// finish checks the checksum after the chunk's data, which was read completely.
func (s *stream) finish() error {
	sum := s.tmp[tableBytes:]
	if err := s.read(sum); err != nil {
		return err
	}
	if binary.BigEndian.Uint32(sum) != s.crc {
		return s.fail(badSum, ErrFormat)
	}
	return nil
}
