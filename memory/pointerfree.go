package memory

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
)

// PointerError says where a type holds a Go pointer. Off-heap memory is invisible to the
// collector: what only such a pointer keeps alive is collected while still in use.
type PointerError struct {
	Path string       // the field, from the type down: "Enemy.Brain.Name"
	Type reflect.Type // the type found there
}

func (e *PointerError) Error() string {
	return fmt.Sprintf("memory: %s (%s) is or holds a Go pointer, which the collector cannot see off the Go heap; "+
		"store a memory.Handle, an index or a fixed-size array", e.Path, e.Type)
}

// PointerFree returns nil when values of T hold no Go pointer of any kind, and otherwise a
// [*PointerError] that names the first field that does. Every pointer, slice, string, map,
// channel, function, interface and unsafe.Pointer counts, also inside arrays and structs;
// uintptr does not. Cost: one reflection per type and process, then a map lookup.
// Safe for concurrent use.
func PointerFree[T any]() error {
	return PointerFreeType(reflect.TypeFor[T]())
}

// verdicts maps reflect.Type to *PointerError, nil when pointer-free.
var verdicts sync.Map

// PointerFreeType is PointerFree for a type known at run time. A nil Type, which is that of a
// nil interface, is an error.
func PointerFreeType(t reflect.Type) error {
	if t == nil {
		return errNoType
	}
	v, ok := verdicts.Load(t)
	if !ok {
		v, _ = verdicts.LoadOrStore(t, findPointer(t, typeName(t)))
	}
	if e := v.(*PointerError); e != nil {
		return e
	}
	return nil
}

var errNoType = errors.New("memory: no type: the value is a nil interface")

func typeName(t reflect.Type) string {
	if t.Name() != "" {
		return t.Name()
	}
	return t.String()
}

// findPointer walks t in field order. A value type cannot contain itself, so it ends.
func findPointer(t reflect.Type, path string) *PointerError {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.String, reflect.Map, reflect.Chan,
		reflect.Func, reflect.Interface, reflect.UnsafePointer:
		return &PointerError{Path: path, Type: t}
	case reflect.Array:
		if t.Len() > 0 {
			return findPointer(t.Elem(), path+"[0]")
		}
	case reflect.Struct:
		for f := range t.Fields() {
			if e := findPointer(f.Type, path+"."+f.Name); e != nil {
				return e
			}
		}
	}
	return nil
}
