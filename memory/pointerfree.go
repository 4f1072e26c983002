package memory

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
)

// PointerError reports that a type contains a Go pointer. The collector does not scan off-heap memory: it frees an
// object whose only reference is in off-heap memory.
type PointerError struct {
	Path string       // the checked type and the fields down to the pointer: "Enemy.Brain.Name"
	Type reflect.Type // the type at the end of Path
}

func (e *PointerError) Error() string {
	return fmt.Sprintf("memory: %s (%s) is or contains a Go pointer, which the collector cannot see off the Go heap; "+
		"store a memory.Handle, an index or a fixed-size array", e.Path, e.Type)
}

// PointerFree returns nil if values of T contain no Go pointer. Otherwise it returns a [*PointerError] with the first
// pointer, in the order of the fields. Pointers, slices, strings, maps, channels, functions, interfaces and
// unsafe.Pointers contain Go pointers, also inside arrays and structs. A uintptr and an array of length 0 contain
// none. The first call for a type uses reflection, later calls a map lookup. Safe for concurrent use.
func PointerFree[T any]() error {
	return PointerFreeType(reflect.TypeFor[T]())
}

// verdicts maps reflect.Type to *PointerError, nil when pointer-free.
var verdicts sync.Map

// PointerFreeType is [PointerFree] for a type that is known at run time. If t is nil, as reflect.TypeOf returns for a
// nil interface, PointerFreeType returns an error that is no [*PointerError].
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

// findPointer visits t in field order. A value type cannot contain itself, so it ends.
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
