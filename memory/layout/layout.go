// Package layout describes types without pointers as they are in files, and converts values of a described type to
// a Go type that has changed since. The files of packages save and ecs use it.
//
// [Of] describes a Go type. A [Planner] compares a description from a file with one of the program, field by field and by
// name, and returns the function that converts values. A [Migration] declares how the types of a program have changed.
package layout

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// A Type describes a type without pointers. In a file all numbers of a value are little-endian.
type Type struct {
	Name   string  `json:"name,omitempty"` // as reflect.Type.String returns it; empty for predeclared and unnamed types
	Kind   string  `json:"kind"`           // struct, array, bytes, handle, bool, or a number with its bits, such as int32
	Size   int     `json:"size"`           // in bytes
	Len    int     `json:"len,omitempty"`  // of an array
	Elem   *Type   `json:"elem,omitempty"`
	Fields []Field `json:"fields,omitempty"`
}

// A Field is a field of a struct. Off is its offset in bytes. Fields named _ are left out.
type Field struct {
	Name string `json:"name"`
	Off  int    `json:"off"`
	Type Type   `json:"type"`
}

// most bounds the sizes and lengths of a description, and deepest its nesting.
const (
	most    = 1 << 30
	deepest = 32
)

// Bytes returns a Type for values of size bytes that have no Go type. Such a value converts only to Bytes of the same
// size. The size must be in the range of [Type.Check].
func Bytes(name string, size int) Type { return Type{Name: name, Kind: "bytes", Size: size} }

// These errors say why a type cannot be in a file.
var (
	errAddress   = errors.New("an address is not valid in another process")
	errHandle    = errors.New("a handle of a pool is not valid in another process")
	errContainer = errors.New("the elements of a container are in a block, which the file lacks; visit them in a function of Set.AddFunc")
)

// Of describes a Go type. If a field would be invalid in another process, the error begins with t and the path of the
// first such field. Examples are a pointer, a string, a uintptr, a memory.Handle and a container. Types above 1 GiB, or
// nested more than 32 deep, are errors, too. t must not be nil. Use the result only if the error is nil.
func Of(t reflect.Type) (Type, error) { return OfHandles(t, nil) }

// OfHandles is [Of] for a type that may have handles of pools: a memory.Handle gets the kind handle. OfHandles calls
// known with the type of each Handle. The function known returns nil if handles of this type can be translated. If
// known returns an error, the error of OfHandles has the path of the field and wraps it. If known is nil, each Handle
// is an error.
func OfHandles(t reflect.Type, known func(handle reflect.Type) error) (Type, error) {
	d, r := description(t, known)
	if r != nil {
		if r.path != "" {
			r.path = t.String() + r.path
		}
		return d, r
	}
	err := d.Check()
	if err != nil {
		err = fmt.Errorf("%s: %w", t, err)
	}
	return d, err
}

// A refusal is the error for a field that cannot be in a file.
type refusal struct {
	path string // such as .A[].P; empty for the described type itself
	typ  reflect.Type
	err  error
}

func (r *refusal) Error() string {
	s := r.typ.String() + ": " + r.err.Error()
	if r.path != "" {
		s = r.path + ": " + s
	}
	return s
}

func (r *refusal) Unwrap() error { return r.err }

// of returns the type whose objects a handle names, such as game.Beast.
func (t *Type) of() string {
	name := strings.TrimSuffix(strings.TrimPrefix(t.Name, "memory.Handle["), "]")
	if strings.Contains(name, "[") {
		return name
	}
	return name[strings.LastIndexByte(name, '/')+1:]
}

// IsHandle reports whether t is a memory.Handle of any type.
func IsHandle(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && strings.HasSuffix(t.PkgPath(), "/strata/memory") && strings.HasPrefix(t.Name(), "Handle[")
}

func description(t reflect.Type, known func(reflect.Type) error) (Type, *refusal) {
	d := Type{Size: int(t.Size())}
	if t.Name() != "" && t.PkgPath() != "" {
		d.Name = t.String()
	}
	switch t.Kind() {
	case reflect.Bool:
		d.Kind = "bool"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		d.Kind = fmt.Sprint("int", t.Bits())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		d.Kind = fmt.Sprint("uint", t.Bits())
	case reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		d.Kind = t.Kind().String()
	case reflect.Array:
		elem, r := description(t.Elem(), known)
		if r != nil {
			r.path = "[]" + r.path
			return d, r
		}
		d.Kind, d.Len, d.Elem = "array", t.Len(), &elem
	case reflect.Struct:
		if IsHandle(t) {
			err := errHandle
			if known != nil {
				err = known(t)
			}
			if err != nil {
				return d, &refusal{typ: t, err: err}
			}
			d.Kind = "handle"
			return d, nil
		}
		if isContainer(t) {
			return d, &refusal{typ: t, err: errContainer}
		}
		d.Kind = "struct"
		for f := range t.Fields() {
			if f.Name == "_" {
				continue
			}
			ft, r := description(f.Type, known)
			if r != nil {
				r.path = "." + f.Name + r.path
				return d, r
			}
			d.Fields = append(d.Fields, Field{f.Name, int(f.Offset), ft})
		}
	default:
		return d, &refusal{typ: t, err: errAddress}
	}
	return d, nil
}

func isContainer(t reflect.Type) bool {
	return strings.HasSuffix(t.PkgPath(), "/strata/memory/container")
}

// HasContainer reports whether a value of type t is a container, such as container.Vec, or has one in a field or an
// element. The elements of a container lie in a block of an allocator.
func HasContainer(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return HasContainer(t.Elem())
	case reflect.Struct:
		if isContainer(t) {
			return true
		}
		for f := range t.Fields() {
			if HasContainer(f.Type) {
				return true
			}
		}
	}
	return false
}

// Check returns an error if a description from a file is impossible. Examples are an unknown kind, a wrong size, a
// size above 1 GiB, a field outside of its struct, a number with fields, and nesting more than 32 deep.
func (t *Type) Check() error { return t.check(0) }

func (t *Type) check(depth int) error {
	if t.Size < 0 || t.Size > most || depth > deepest {
		return fmt.Errorf("type %q of %d bytes, nested %d deep: want at most %d bytes and %d", clip(t.Name), t.Size, depth, most, deepest)
	}
	if t.Kind != "array" && (t.Elem != nil || t.Len != 0) || t.Kind != "struct" && len(t.Fields) > 0 {
		return fmt.Errorf("type %q with elements or fields", clip(t.Kind))
	}
	switch t.Kind {
	case "bytes":
		return nil
	case "array":
		if t.Elem == nil || t.Len < 0 || t.Len > most || int64(t.Elem.Size)*int64(t.Len) != int64(t.Size) {
			return fmt.Errorf("an array of %d elements with %d bytes", t.Len, t.Size)
		}
		return t.Elem.check(depth + 1)
	case "struct":
		for i := range t.Fields {
			f := &t.Fields[i]
			if f.Off < 0 || f.Type.Size > t.Size || f.Off > t.Size-f.Type.Size {
				return fmt.Errorf("field %q at byte %d of %d", clip(f.Name), f.Off, t.Size)
			}
			if err := f.Type.check(depth + 1); err != nil {
				return err
			}
		}
		return nil
	}
	if s, ok := scalars[t.Kind]; !ok || s.size != t.Size {
		return fmt.Errorf("type %q of %d bytes", clip(t.Kind), t.Size)
	}
	return nil
}

func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// Equal reports whether values of both types have the same bytes and the same meaning. Names of types count only for
// handles. Both types must pass [Type.Check].
func (t *Type) Equal(u *Type) bool {
	if t.Kind == "handle" && t.Name != u.Name {
		return false // a handle of another pool
	}
	if t.Kind != u.Kind || t.Size != u.Size || t.Len != u.Len || len(t.Fields) != len(u.Fields) || t.Elem != nil && !t.Elem.Equal(u.Elem) {
		return false
	}
	for i := range t.Fields {
		f, g := &t.Fields[i], &u.Fields[i]
		if f.Name != g.Name || f.Off != g.Off || !f.Type.Equal(&g.Type) {
			return false
		}
	}
	return true
}

// Has reports whether a value of t is, or contains, a value of a kind, such as bool.
func (t *Type) Has(kind string) bool {
	if t.Kind == kind || t.Elem != nil && t.Len > 0 && t.Elem.Has(kind) {
		return true
	}
	for i := range t.Fields {
		if t.Fields[i].Type.Has(kind) {
			return true
		}
	}
	return false
}

// Find returns the offset in bytes and the type of a field by its path, such as "Pos.X". If t has no such field, ok
// is false. A path cannot lead into an array. The result f points into t and must not be changed.
func (t *Type) Find(path string) (off int, f *Type, ok bool) {
	for name := range strings.SplitSeq(path, ".") {
		f := t.field(name)
		if f == nil {
			return 0, nil, false
		}
		off, t = off+f.Off, &f.Type
	}
	return off, t, true
}

// field returns a field by its name, or nil.
func (t *Type) field(name string) *Field {
	for i := range t.Fields {
		if t.Fields[i].Name == name {
			return &t.Fields[i]
		}
	}
	return nil
}

// fields returns the names of up to 20 fields, for an error.
func (t *Type) fields() string {
	var names []string
	for i := range t.Fields[:min(len(t.Fields), 20)] {
		names = append(names, t.Fields[i].Name)
	}
	return strings.Join(names, ", ")
}
