package layout

import (
	"encoding/binary"
	"fmt"
	"math"
)

// A scalar is a kind of number: its class, its bytes and the bits of an integer that it has exactly.
type scalar struct {
	class byte // 'b', 'i', 'u', 'f', 'c' or 'h'
	size  int
	exact int
}

var scalars = map[string]scalar{
	"bool": {'b', 1, 1}, "int8": {'i', 1, 7}, "int16": {'i', 2, 15}, "int32": {'i', 4, 31}, "int64": {'i', 8, 63},
	"uint8": {'u', 1, 8}, "uint16": {'u', 2, 16}, "uint32": {'u', 4, 32}, "uint64": {'u', 8, 64},
	"float32": {'f', 4, 24}, "float64": {'f', 8, 53}, "complex64": {'c', 8, 0}, "complex128": {'c', 16, 0},
	"handle": {'h', 8, 0},
}

// A Convert converts the value in src from the old type to the new type and writes it to dst. Both slices have the
// size of their type, and dst must be zero. If a number does not fit, or a bool is neither 0 nor 1, Convert returns
// an error, and dst is partly written.
type Convert func(dst, src []byte) error

// A Planner compares the types of a file with those of the program.
type Planner struct {
	// Renamed maps "package.Type.Field" of the file to the field's name in the program. It also maps types of
	// handles: see [Migration.Renamed]. Renamed may be nil.
	Renamed map[string]string
	// Note, if not nil, receives each change that Plan finds.
	Note func(change string)
	// If Lenient is true, a field whose type cannot be converted stays zero, and Note receives a text about the field.
	// If Lenient is false, Plan returns an error for the first such field. In both cases the function that Plan returns
	// fails for a number that does not fit its new type.
	Lenient bool
}

func (p *Planner) note(format string, args ...any) {
	if p.Note != nil {
		p.Note(fmt.Sprintf(format, args...))
	}
}

// Plan returns a function that converts values of type `from`, in the file, to values of type `to`, in the program. If
// the function and the error are nil, copy the bytes: the types are equal and have no bool to verify. The parameter
// `where` is the first name in the paths of errors and notes. Both types must pass [Type.Check].
//
// If two fields of the file get one name, or if a field cannot be converted and p.Lenient is false, Plan returns an
// error that contains the name. If p.Renamed is the cause, because it names a field that `to` lacks or gives two fields
// one name, the error wraps [ErrMigration].
func (p *Planner) Plan(where string, from, to *Type) (Convert, error) {
	if from.Equal(to) && !p.renames(from) {
		if !to.Has("bool") {
			return nil, nil
		}
		quiet := Planner{Lenient: true}
		return quiet.plan(where, from, to)
	}
	return p.plan(where, from, to)
}

// renames reports whether a field of a type is renamed.
func (p *Planner) renames(t *Type) bool {
	for i := range t.Fields {
		if _, ok := p.Renamed[t.Name+"."+t.Fields[i].Name]; ok || p.renames(&t.Fields[i].Type) {
			return true
		}
	}
	return t.Elem != nil && p.renames(t.Elem)
}

func (p *Planner) plan(where string, from, to *Type) (Convert, error) {
	switch {
	case from.Kind == "struct" && to.Kind == "struct":
		return p.structs(where, from, to)
	case from.Kind == "array" && to.Kind == "array":
		return p.arrays(where, from, to)
	case from.Kind == "bytes" && to.Kind == "bytes" && from.Size == to.Size:
		return func(dst, src []byte) error { copy(dst, src); return nil }, nil
	}
	convert := p.numbers(where, from, to)
	switch {
	case convert == nil && p.Lenient:
		p.note("%s: %s became %s, and is zero before Migration.Convert", where, from.describe(), to.describe())
		return func(_, _ []byte) error { return nil }, nil
	case convert == nil:
		return nil, fmt.Errorf("%s was %s and is %s: values would be lost; convert them by Migration.Convert", where, from.describe(), to.describe())
	case from.Kind != to.Kind:
		p.note("%s: %s became %s", where, from.Kind, to.Kind)
	}
	return convert, nil
}

// numbers is plan for two numbers or handles. It returns nil for other types, and if values would be lost.
func (p *Planner) numbers(where string, from, to *Type) Convert {
	a, okA := scalars[from.Kind]
	b, okB := scalars[to.Kind]
	switch {
	case !okA || !okB || a.class == 'h' && b.class == 'h' && !p.sameObjects(from, to):
		return nil
	case a.class == 'b' && b.class == 'b':
		return func(dst, src []byte) error {
			if src[0] > 1 {
				return fmt.Errorf("%s: the bool is %d", where, src[0])
			}
			dst[0] = src[0]
			return nil
		}
	case from.Kind == to.Kind:
		return func(dst, src []byte) error { copy(dst[:b.size], src); return nil }
	case a.class == 'i' || a.class == 'u':
		if b.class == 'i' || b.class == 'u' {
			return integers(where, a, b, to.Kind)
		}
		if b.class == 'f' && a.exact <= b.exact {
			return func(dst, src []byte) error {
				n, negative := integer(src, a)
				f := float64(n)
				if negative {
					f = float64(int64(n))
				}
				putFloat(dst, f, b)
				return nil
			}
		}
	case a.class == 'f' && b.class == 'f' && a.size < b.size:
		return func(dst, src []byte) error { putFloat(dst, float(src, a), b); return nil }
	case a.class == 'c' && b.class == 'c' && a.size < b.size:
		half, whole := scalars["float32"], scalars["float64"]
		return func(dst, src []byte) error {
			putFloat(dst, float(src, half), whole)
			putFloat(dst[8:], float(src[4:], half), whole)
			return nil
		}
	}
	return nil
}

// sameObjects reports whether two handles name objects of one type, perhaps a renamed one.
func (p *Planner) sameObjects(from, to *Type) bool {
	was, is := from.of(), to.of()
	return was == is || p.Renamed[was] == is
}

func (t *Type) describe() string {
	switch t.Kind {
	case "bytes":
		return fmt.Sprintf("%d bytes", t.Size)
	case "array":
		return fmt.Sprintf("an array of %d bytes", t.Size)
	case "struct":
		return fmt.Sprintf("a struct of %d bytes", t.Size)
	case "handle":
		return "a handle of " + clip(t.of())
	}
	return clip(t.Kind)
}

// structs matches fields by name.
func (p *Planner) structs(where string, from, to *Type) (Convert, error) {
	type move struct {
		from, fromEnd, to, toEnd int
		convert                  Convert
	}
	var moves []move
	came := map[string]bool{}
	for i := range from.Fields {
		f := &from.Fields[i]
		name := f.Name
		now, renamed := p.Renamed[from.Name+"."+name]
		if renamed {
			p.note("%s.%s was renamed to %s", where, name, now)
			name = now
		}
		g := to.field(name)
		switch {
		case g == nil && renamed:
			return nil, fmt.Errorf("%w: Renamed[%q] is %s, which %s does not have; its fields: %s",
				ErrMigration, clip(from.Name)+"."+clip(f.Name), clip(name), where, to.fields())
		case g == nil:
			p.note("%s.%s was removed", where, f.Name)
			continue
		case came[name] && p.renames(from):
			return nil, fmt.Errorf("%w: %s: two fields became %s; Renamed must give each another name", ErrMigration, where, clip(name))
		case came[name]:
			return nil, fmt.Errorf("%s: two fields became %s", where, clip(name))
		}
		came[name] = true
		convert, err := p.plan(where+"."+name, &f.Type, &g.Type)
		if err != nil {
			return nil, err
		}
		moves = append(moves, move{f.Off, f.Off + f.Type.Size, g.Off, g.Off + g.Type.Size, convert})
	}
	for i := range to.Fields {
		if f := &to.Fields[i]; !came[f.Name] {
			p.note("%s.%s was added", where, f.Name)
		}
	}
	return func(dst, src []byte) error {
		for _, m := range moves {
			if err := m.convert(dst[m.to:m.toEnd], src[m.from:m.fromEnd]); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// arrays converts the elements that both have.
func (p *Planner) arrays(where string, from, to *Type) (Convert, error) {
	if from.Len != to.Len {
		p.note("%s: %d elements became %d", where, from.Len, to.Len)
	}
	convert, err := p.plan(where+"[]", from.Elem, to.Elem)
	if err != nil {
		return nil, err
	}
	n, a, b := min(from.Len, to.Len), from.Elem.Size, to.Elem.Size
	return func(dst, src []byte) error {
		for i := range n {
			if err := convert(dst[i*b:][:b], src[i*a:][:a]); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// integer returns an integer, extended to 64 bits, and whether it is negative.
func integer(src []byte, a scalar) (n uint64, negative bool) {
	var word [8]byte
	copy(word[:], src[:a.size])
	n = binary.LittleEndian.Uint64(word[:])
	if a.class == 'i' {
		shift := 64 - 8*a.size
		n = uint64(int64(n<<shift) >> shift)
		negative = int64(n) < 0
	}
	return n, negative
}

func integers(where string, a, b scalar, kind string) Convert {
	return func(dst, src []byte) error {
		n, negative := integer(src, a)
		fits := !negative && n>>min(b.exact, 63) == 0 || !negative && b.exact == 64
		if negative {
			fits = b.class == 'i' && int64(n) >= math.MinInt64>>(63-b.exact)
		}
		switch {
		case fits:
		case negative:
			return fmt.Errorf("%s: %d does not fit %s", where, int64(n), kind)
		default:
			return fmt.Errorf("%s: %d does not fit %s", where, n, kind)
		}
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], n)
		copy(dst, word[:b.size])
		return nil
	}
}

func float(src []byte, a scalar) float64 {
	if a.size == 4 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(src)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(src))
}

func putFloat(dst []byte, f float64, b scalar) {
	if b.size == 4 {
		binary.LittleEndian.PutUint32(dst, math.Float32bits(float32(f)))
		return
	}
	binary.LittleEndian.PutUint64(dst, math.Float64bits(f))
}

// Number returns a bool, integer or float of type t as an integer n and as a float64 f. src must have the bytes of
// the value. For other types ok is false. A float is truncated to n; if it does not fit, n is unspecified. A uint64
// above math.MaxInt64 gives a negative n. A large integer is rounded to f.
func Number(t *Type, src []byte) (n int64, f float64, ok bool) {
	s, ok := scalars[t.Kind]
	switch {
	case !ok || s.class == 'c' || s.class == 'h':
		return 0, 0, false
	case s.class == 'f':
		f = float(src, s)
		return int64(f), f, true
	}
	u, negative := integer(src, s)
	if f = float64(u); negative {
		f = float64(int64(u))
	}
	return int64(u), f, true
}
