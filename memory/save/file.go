package save

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"io"
	"reflect"

	"github.com/strata-go/strata/memory/layout"
)

// The form of a file, all numbers little-endian:
//
//	magic        8 bytes   "strata\x00S"
//	length       8 bytes   of the whole file
//	fingerprint  8 bytes   FNV-1a of the head
//	version      4 bytes
//	head         4 bytes   length of the head, which follows
//	             …         the names of the parts, and the descriptions of all types; padded with zeros to 8 bytes
//	parts        …         of each part its length, and its bytes: numbers, and rows with the number of their type
//	sum          8 bytes   CRC-32C of all before it
const (
	fileMagic   = "strata\x00S"
	fileVersion = 1
	fileHead    = 32 // bytes before the head
	fileSum     = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Write writes the present state to out, as a file. This and other processes can read the file, on every little-endian
// system: see [Set.Portable]. The file contains the names of the parts and a description of each type, so that
// [Set.Read] can convert values whose type has changed since.
//
// The error wraps [ErrUnsealed], [ErrPortable], the error of out, [io.ErrShortWrite], or the error of a part, such as
// [ErrBusy], with the part's name. After an error of out or io.ErrShortWrite, out may have the beginning of the file:
// write to a new file, and rename it. After other errors nothing was written. Write builds the whole file in Go memory.
// Padding bytes between fields are written as they are.
func (s *Set) Write(out io.Writer) error {
	if err := s.Portable(); err != nil {
		return err
	}
	f := &file{set: s, numbers: map[reflect.Type]int{}}
	body, err := s.fileParts(f)
	if err != nil {
		return err
	}
	head := s.fileHead(f)
	start := append(make([]byte, 0, fileHead+len(head)), fileMagic...)
	start = binary.LittleEndian.AppendUint64(start, uint64(fileHead+len(head)+len(body)+fileSum))
	start = binary.LittleEndian.AppendUint64(start, fingerprint(head))
	start = binary.LittleEndian.AppendUint32(start, fileVersion)
	start = append(binary.LittleEndian.AppendUint32(start, uint32(len(head))), head...)
	sum := crc32.Update(crc32.Checksum(start, castagnoli), castagnoli, body)
	for _, b := range [...][]byte{start, body, binary.LittleEndian.AppendUint64(nil, uint64(sum))} {
		n, err := out.Write(b)
		if err == nil && n < len(b) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return fmt.Errorf("save: write: %w", err)
		}
	}
	return nil
}

// fileParts returns the parts, each after its length.
func (s *Set) fileParts(f *file) ([]byte, error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.end()
	c := Coder{pass: saving, canonical: true, file: f}
	for i := range s.parts {
		p := &s.parts[i]
		c.Enter(p.name)
		head := c.at
		c.Word(0)
		p.state.SaveState(&c)
		if c.err != nil {
			return nil, c.err
		}
		binary.LittleEndian.PutUint64(c.buf[head:], uint64(c.at-head-8))
		c.Leave()
	}
	return c.buf[:c.at], nil
}

// fileHead returns the head of a file, padded.
func (s *Set) fileHead(f *file) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(s.parts)))
	for i := range s.parts {
		b = layout.AppendText(b, s.parts[i].name)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.types)))
	for i := range f.types {
		b = f.types[i].AppendTo(b)
	}
	return append(b, make([]byte, padded(uintptr(len(b)))-len(b))...)
}

func fingerprint(head []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(head) // it never fails
	return h.Sum64()
}
