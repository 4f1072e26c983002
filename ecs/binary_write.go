package ecs

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"unicode/utf8"
	"unsafe"

	"github.com/strata-go/strata/memory/layout"
)

// The binary format, all numbers little-endian:
//
//	magic   8 bytes   "strata\x00W"
//	length  8 bytes   of the whole file
//	head    8 bytes   length of the head, which follows
//	        …         JSON: the form of WriteJSON with a description of each component type, and for each archetype
//	                  the number of its rows instead of its entities; padded with blanks to 8 bytes
//	rows    …         archetype by archetype: slot and generation of each entity, 4 bytes each, then column by column;
//	                  each column is padded with zeros to 8 bytes
//	sum     8 bytes   CRC-32C of all before it
const (
	binaryMagic   = "strata\x00W"
	binaryVersion = 1
	binaryHead    = 24 // bytes before the head
	binarySum     = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// WriteBinary writes all entities to out in a binary form. [World.ReadBinary] loads it in this and in other processes,
// on every little-endian system. The component types may change between writing and reading. Each Entity, also an Entity
// in a component, names the same entity after reading.
//
// The file has a description of each component type: names, kinds and places of its fields. Values are written as they
// are in memory. WriteBinary checks the components of all archetypes, also of those without entities. If a component
// has a field that has no meaning in another process, the error contains the path of the field. Such fields are
// pointers, strings, slices, maps, functions, channels, interfaces, uintptr, memory.Handle and the types of package
// container. WriteBinary also returns an error if a component of an archetype has a name that is not UTF-8, or the name
// of another component type. A value with a placeholder of [Task.Commands] is an error, too. Resources, events, pending
// commands, observers and ticks are not written.
//
// Other errors wrap the error of out, [io.ErrShortWrite], or [memory.ErrClosed] if the world closed itself. When
// WriteBinary fails, a part may have been written: write to a new file, and rename it after success. Padding bytes
// between fields are written as they are, so equal worlds may have different files.
//
// The world is locked during the call; open queries and loops are allowed. WriteBinary panics with a [*memory.Misuse]
// if out is nil or w is closed, in a parallel run, and while the world calls its allocator or Config.Pages.
//
// Cost: that of copying the columns and of a checksum, and some Go allocations for each archetype.
func (w *World) WriteBinary(out io.Writer) error {
	const op = "WriteBinary"
	w.beginWrite(op, out)
	defer w.guard.endText()
	if err := w.writeBinary(out); err != nil {
		return fmt.Errorf("ecs: %s: %w", op, err)
	}
	return nil
}

func (w *World) writeBinary(out io.Writer) error {
	head, err := w.binaryHead()
	if err != nil {
		return err
	}
	size := binaryHead + len(head) + binarySum
	for _, t := range w.store.tables {
		if n := t.rows(); n > 0 {
			size += n * int(entityBytes)
			for i := range t.columns {
				if c := t.columns[i].comp; c.owner == nil {
					size += padded(n * int(c.size))
				}
			}
		}
	}
	b := binaryWriter{out: out, stop: w.guard.stillOpen}
	start := append(make([]byte, 0, binaryHead), binaryMagic...)
	start = binary.LittleEndian.AppendUint64(start, uint64(size))
	b.write(binary.LittleEndian.AppendUint64(start, uint64(len(head))))
	b.write(head)
	for _, t := range w.store.tables {
		w.store.writeRows(&b, t)
	}
	b.write(binary.LittleEndian.AppendUint64(nil, uint64(b.sum)))
	return b.err
}

// padded returns n rounded up to whole words.
func padded(n int) int { return (n + 7) &^ 7 }

// A binaryWriter keeps the sum and the first error.
type binaryWriter struct {
	out  io.Writer
	stop func() error
	sum  uint32
	err  error
}

func (b *binaryWriter) write(p []byte) {
	if b.err != nil {
		return
	}
	b.sum = crc32.Update(b.sum, castagnoli, p)
	n, err := b.out.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if ended := b.stop(); ended != nil { // by a writer that closes the allocator
		err = ended
	}
	b.err = err
}

// binaryHead returns the head, padded.
func (w *World) binaryHead() ([]byte, error) {
	var head bytes.Buffer
	j := jsonWriter{w: w, out: &head, idle: make(map[*table]int), binary: true}
	if err := j.world(); err != nil {
		return nil, err
	}
	for head.Len()%8 != 0 {
		head.WriteByte(' ')
	}
	return head.Bytes(), nil
}

// types writes the descriptions of all component types that an archetype has.
func (j *jsonWriter) types() error {
	var used mask
	for _, t := range j.w.store.tables {
		used = used.with(t.mask)
	}
	j.buf.WriteString("\"types\":[")
	sep := "\n"
	for id := range used.ids() {
		d, err := j.w.store.comps[id].describe()
		if err != nil {
			return err
		}
		text, err := json.Marshal(d)
		if err != nil {
			return err
		}
		j.buf.WriteString(sep)
		j.buf.Write(text)
		sep = ",\n"
	}
	j.buf.WriteString("],")
	return nil
}

// describe returns the layout of a component. The error names what cannot be in a file.
func (c *component) describe() (layout.Type, error) {
	if !utf8.ValidString(c.name) {
		return layout.Type{}, fmt.Errorf("the name of component %q is not UTF-8", c.name)
	}
	if c.typ == nil {
		return layout.Bytes(c.name, int(c.size)), nil
	}
	d, err := layout.Of(c.typ)
	if err != nil {
		return d, fmt.Errorf("component %w", err)
	}
	d.Name = c.name
	return d, nil
}

// writeRows writes the entities of a table and its columns.
func (s *store) writeRows(b *binaryWriter, t *table) {
	if b.err != nil || t.tailN == 0 {
		return
	}
	for k := 0; b.err == nil && k < t.used(); k++ {
		es := s.entitiesFrom(t.chunks[k].number<<rowBits, t.rowsIn(k))
		b.write(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(es))), len(es)*int(entityBytes)))
	}
	for i := range t.columns {
		c := t.columns[i].comp
		if c.owner != nil || c.size == 0 {
			continue
		}
		n := 0
		for k := 0; b.err == nil && k < t.used(); k++ {
			loc, rows := t.chunks[k].number<<rowBits, t.rowsIn(k)
			p, bytes := s.cell(loc, c.id, c.size), rows*int(c.size)
			if b.err = c.checkPlaceholders(p, s.entitiesFrom(loc, rows)); b.err != nil {
				return
			}
			b.write(unsafe.Slice((*byte)(p), bytes))
			n += bytes
		}
		b.write(make([]byte, padded(n)-n))
	}
}

// checkPlaceholders returns an error if a value names an entity that only Apply would create. The values of the rows
// begin at p.
func (c *component) checkPlaceholders(p unsafe.Pointer, rows []Entity) error {
	if len(c.named) == 0 {
		return nil
	}
	for i := range rows {
		for _, off := range c.named {
			if e := *(*Entity)(unsafe.Add(p, uintptr(i)*c.size+off)); e.index >= placeholderBit {
				return fmt.Errorf("entity %s: component %s: it contains %s, %s", quote(rows[i]), c.name, quote(e), placeholderText)
			}
		}
	}
	return nil
}

const placeholderText = "a placeholder of Task.Commands; let AddTo of the same batch write it"
