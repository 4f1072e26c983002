package save

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unsafe"
)

// A Piece is a run of bytes of a state: a number, the rows of one call, or the contents of blocks.
type Piece struct {
	Path string       // the labels of Coder.Enter, then the name given to Coder.Rows or "contents", with "/" between them
	Off  int          // the first byte in Slot.Bytes
	Size int          // in bytes, without padding
	Rows int          // how many values
	Type reflect.Type // of a value; nil if it is unknown

	// Contents is true for the contents of blocks: see Coder.BeginContent. Path then ends with "contents". A call of
	// Coder.Rows may have this name, too.
	Contents bool

	name string // of the call of Coder.Rows, which ends Path; "" for other pieces
}

// Entity is a name for [Coder.Rows]. The values of a call with this name are the entities of rows: value i is the
// entity of row i in later calls of Rows. These calls must have the same labels of [Coder.Enter], and a name other than
// "". The next call with the name Entity replaces the entities. [Set.Diff] returns the entity of a row in
// [Difference.Entity], if the type of the entities is not nil.
const Entity = "entity"

var errStop = errors.New("save: stop")

// Scan calls yield with each piece of the slot's state, in the order in which they were saved. If yield returns false,
// Scan stops and returns nil. yield must not call the Set. The error wraps [ErrUnsealed], [ErrForeign], [ErrEmpty],
// [ErrBusy], or another error of a part, such as [ErrLayout]. Scan allocates, and changes nothing.
func (s *Set) Scan(slot *Slot, yield func(Piece) bool) error {
	if err := s.owns(slot); err != nil {
		return err
	}
	if !slot.full {
		return ErrEmpty
	}
	if s.busy {
		return s.begin()
	}
	s.coder.yield = yield
	_, err := s.run(scanning, slot.canonical, slot.buf)
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// piece yields a piece whose Path is not set yet.
func (c *Coder) piece(p Piece) {
	p.Path = c.where()
	switch {
	case p.Contents:
		p.Path += "/contents"
	case p.name != "":
		p.Path += "/" + p.name
	}
	if !c.yield(p) {
		c.err = errStop
	}
}

// labels returns the labels of Coder.Enter for a piece of Coder.Rows.
func (p *Piece) labels() string { return strings.TrimSuffix(p.Path, "/"+p.name) }

// A Difference is a place at which two states differ. [Set.Diff] describes which place it returns if there are several.
type Difference struct {
	Path   string // the part, tier, table or variable
	Row    int    // the index of the value there, from 0
	Entity string // the entity of the row, or ""
	Field  string // the field of the value, or the byte in it; "" if the value has no fields
	A, B   string // the values as text; 8 bytes in hexadecimal if the type is unknown; numbers of values if these differ
	More   int    // how many more variables of the field differ; only engine.Fields counts them, Diff sets 0
}

// String returns the difference in one line.
func (d Difference) String() string {
	s := d.Path
	if d.Row > 0 || d.Entity != "" {
		s += fmt.Sprintf(" row %d", d.Row)
	}
	if d.Entity != "" {
		s += " entity " + d.Entity
	}
	if d.Field != "" {
		s += " " + d.Field
	}
	s = fmt.Sprintf("%s: %s, and %s", s, d.A, d.B)
	if d.More > 0 {
		s += fmt.Sprintf(" (and %d more of this field)", d.More)
	}
	return s
}

// Diff returns the first difference of two states, in the order of the parts. differ is false if the states are equal.
// Contents of blocks have unknown types. If they differ, Diff looks for a later value of a known type that differs, and
// returns that value instead. This search ends at the first [Piece] of a whose Path or Size differs in b. If it finds
// no value, Diff returns the difference of the contents.
//
// Use slots of [Set.NewCanonical], because others may differ in old bytes of free blocks. The errors are those of
// [Set.Scan]. Diff allocates.
func (s *Set) Diff(a, b *Slot) (d Difference, differ bool, err error) {
	if err := errors.Join(s.owns(a), s.owns(b)); err != nil {
		return d, false, err
	}
	return Diff(a, b)
}

// Diff is [Set.Diff] for slots of two Sets with equal parts, for example the Sets of two games. For a nil slot the
// error is [ErrForeign].
func Diff(a, b *Slot) (d Difference, differ bool, err error) {
	if a == nil || b == nil || a.set == nil || b.set == nil {
		return d, false, ErrForeign
	}
	var ps, qs []Piece
	if err = a.set.Scan(a, func(p Piece) bool { ps = append(ps, p); return true }); err == nil {
		err = b.set.Scan(b, func(p Piece) bool { qs = append(qs, p); return true })
	}
	if err != nil {
		return d, false, err
	}
	var names Piece
	for i, p := range ps {
		if i >= len(qs) || qs[i].Path != p.Path || qs[i].Size != p.Size {
			if differ {
				break
			}
			q := Piece{Path: "nothing"}
			if i < len(qs) {
				q = qs[i]
			}
			return Difference{Path: p.Path, A: fmt.Sprintf("%d values", p.Rows), B: fmt.Sprintf("%s with %d values", q.Path, q.Rows)}, true, nil
		}
		if p.name == Entity {
			names = p
		}
		x, y := a.buf[p.Off:p.Off+p.Size], b.buf[qs[i].Off:qs[i].Off+p.Size]
		if bytes.Equal(x, y) || differ && p.Type == nil {
			continue
		}
		d, differ = differenceOf(p, x, y, names, a.buf), true
		if !p.Contents { // otherwise a later piece may name the field
			return d, true, nil
		}
	}
	if len(qs) > len(ps) && !differ {
		return Difference{Path: qs[len(ps)].Path, A: "nothing", B: fmt.Sprintf("%d values", qs[len(ps)].Rows)}, true, nil
	}
	return d, differ, nil
}

// differenceOf describes the first byte at which x and y, which are p, differ.
func differenceOf(p Piece, x, y []byte, names Piece, state []byte) Difference {
	at := 0
	for x[at] == y[at] {
		at++
	}
	size := p.Size / max(p.Rows, 1)
	d := Difference{Path: p.Path, Row: at / size}
	first := d.Row * size
	if names.Type != nil && p.name != "" && p.labels() == names.labels() && d.Row < names.Rows {
		n := names.Size / names.Rows
		d.Entity = text(names.Type, state[names.Off+d.Row*n:][:n])
	}
	if p.Type == nil {
		d.Field = fmt.Sprintf("byte %d", at-first)
		if size <= 8 {
			d.Field = ""
		}
		lo, hi := at&^7, min(at&^7+8, len(x))
		d.A, d.B = fmt.Sprintf("%#x", x[lo:hi]), fmt.Sprintf("%#x", y[lo:hi])
		return d
	}
	t, off := p.Type, uintptr(0)
	d.Field, t, off = fieldAt(t, uintptr(at-first))
	if t == nil {
		d.A, d.B = fmt.Sprintf("%#02x", x[at]), fmt.Sprintf("%#02x", y[at])
		return d
	}
	d.A, d.B = text(t, x[first+int(off):]), text(t, y[first+int(off):])
	return d
}

// fieldAt returns the path of the field of t at byte off, its type and its offset. The type of padding is nil.
func fieldAt(t reflect.Type, off uintptr) (path string, of reflect.Type, at uintptr) {
	for {
		switch t.Kind() {
		case reflect.Struct:
			i := t.NumField() - 1
			for i >= 0 && (t.Field(i).Offset > off || t.Field(i).Type.Size() == 0) {
				i--
			}
			if i < 0 || t.Field(i).Offset+t.Field(i).Type.Size() <= off {
				return strings.TrimSpace(path + " (padding)"), nil, at
			}
			f := t.Field(i)
			path += "." + f.Name
			t, off, at = f.Type, off-f.Offset, at+f.Offset
		case reflect.Array:
			n := t.Elem().Size()
			path += fmt.Sprintf("[%d]", off/n)
			at += off / n * n
			t, off = t.Elem(), off%n
		default:
			return path, t, at
		}
	}
}

// text formats the value of type t at the start of b.
func text(t reflect.Type, b []byte) string {
	v := reflect.New(t)
	copy(unsafe.Slice((*byte)(v.UnsafePointer()), t.Size()), b)
	return fmt.Sprintf("%v", v.Elem())
}
