package layout

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// AppendTo appends t in a binary form to dst and returns the extended slice. [Decoder.Type] reads this form. t must
// pass [Type.Check]. Names beyond 65,535 bytes are cut.
func (t *Type) AppendTo(dst []byte) []byte {
	dst = AppendText(AppendText(dst, t.Kind), t.Name)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(t.Size))
	switch t.Kind {
	case "array":
		return t.Elem.AppendTo(binary.LittleEndian.AppendUint32(dst, uint32(t.Len)))
	case "struct":
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(t.Fields)))
		for i := range t.Fields {
			f := &t.Fields[i]
			dst = binary.LittleEndian.AppendUint32(AppendText(dst, f.Name), uint32(f.Off))
			dst = f.Type.AppendTo(dst)
		}
	}
	return dst
}

// AppendText appends the length of s, as two little-endian bytes, and s. A text longer than 65,535 bytes is cut there.
func AppendText(dst []byte, s string) []byte {
	s = s[:min(len(s), math.MaxUint16)]
	return append(binary.LittleEndian.AppendUint16(dst, uint16(len(s))), s...)
}

// A Decoder reads the forms that [Type.AppendTo] and [AppendText] write. A method reads the first bytes of Rest and
// removes them from it. The first error is kept in Err: after it the methods read nothing and return zero values. The
// call that fails may return a part of a value.
type Decoder struct {
	Rest []byte
	Err  error
}

var errShort = errors.New("the description ends")

// Bytes returns the next n bytes, which share the memory of Rest. If fewer bytes are left, Bytes sets Err and returns
// nil. n must not be negative.
func (d *Decoder) Bytes(n int) []byte {
	if d.Err == nil && n > len(d.Rest) {
		d.Err = errShort
	}
	if d.Err != nil {
		return nil
	}
	b := d.Rest[:n:n]
	d.Rest = d.Rest[n:]
	return b
}

// Number reads four bytes as a little-endian number. If the number is above most, or fewer bytes are left, Number sets
// Err and returns 0. most must not be negative.
func (d *Decoder) Number(most int) int {
	b := d.Bytes(4)
	if b == nil {
		return 0
	}
	n := binary.LittleEndian.Uint32(b)
	if uint64(n) > uint64(most) {
		d.Err = fmt.Errorf("%d, allowed are %d", n, most)
		return 0
	}
	return int(n)
}

// Text reads a text that [AppendText] wrote. If too few bytes are left, Text sets Err and returns "".
func (d *Decoder) Text() string {
	b := d.Bytes(2)
	if b == nil {
		return ""
	}
	return string(d.Bytes(int(binary.LittleEndian.Uint16(b))))
}

// Type reads a type that [Type.AppendTo] wrote, and applies [Type.Check]. Use the result only if Err is nil. Type
// allocates at most some 30 times the bytes that it reads.
func (d *Decoder) Type() Type {
	t := d.typ(0)
	if d.Err == nil {
		d.Err = t.Check()
	}
	return t
}

func (d *Decoder) typ(depth int) (t Type) {
	if depth > deepest && d.Err == nil {
		d.Err = fmt.Errorf("a type nested more than %d deep", deepest)
	}
	t.Kind, t.Name, t.Size = d.Text(), d.Text(), d.Number(most)
	switch {
	case d.Err != nil:
	case t.Kind == "array":
		t.Len = d.Number(most)
		elem := d.typ(depth + 1)
		t.Elem = &elem
	case t.Kind == "struct":
		for range d.Number(len(d.Rest) / fieldBytes) {
			f := Field{Name: d.Text(), Off: d.Number(most)}
			if f.Type = d.typ(depth + 1); d.Err != nil {
				return t
			}
			t.Fields = append(t.Fields, f)
		}
	}
	return t
}

// fieldBytes is the least that a field takes.
const fieldBytes = 14
