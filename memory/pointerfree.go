package memory

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"
)

// PointerError reports that a type contains a Go pointer. The collector does not scan off-heap memory: it frees an
// object whose only reference is in off-heap memory.
type PointerError struct {
	Path string       // the checked type and the fields down to the pointer: "Enemy.Brain.Name"
	Type reflect.Type // the type at the end of Path

	others string // the paths of the other pointers in the checked type
}

// Error names Path, what to store there instead, and up to eight other fields with a pointer.
func (e *PointerError) Error() string {
	instead := "an index"
	if e.Type != nil {
		switch e.Type.Kind() {
		case reflect.Pointer:
			instead = "a memory.Handle or an index"
		case reflect.Slice:
			instead = "a container.Vec or a fixed-size array"
		case reflect.String:
			instead = "an index, an id of container.Strings or a fixed-size array"
		case reflect.Map:
			instead = "a container.Map"
		}
	}
	s := fmt.Sprintf("memory: %s (%s) is or contains a Go pointer, which the collector cannot see off the Go heap; store %s", e.Path, e.Type, instead)
	if e.others != "" {
		s += "; other fields: " + e.others
	}
	return s
}

// PointerFree returns nil if values of T contain no Go pointer. Otherwise it returns a [*PointerError] with the first
// pointer, in the order of the fields. Pointers, slices, strings, maps, channels, functions, interfaces and
// unsafe.Pointers contain Go pointers, also inside arrays and structs. A uintptr and an array of length 0 contain none.
// The first call for a type uses reflection. Later calls look T up in a map. If T is pointer-free, most later calls
// only compare a word. Safe for concurrent use.
func PointerFree[T any]() error {
	if d := descriptor((*T)(nil)); proved[d/descriptorBytes%uintptr(len(proved))].Load() == d {
		return nil
	}
	return prove[T]()
}

//go:noinline
func prove[T any]() error {
	err := PointerFreeType(reflect.TypeFor[T]())
	if err == nil {
		d := descriptor((*T)(nil))
		proved[d/descriptorBytes%uintptr(len(proved))].Store(d)
	}
	return err
}

// proved has the descriptors of pointer types whose elements are pointer-free. Each lies in the place that its address
// gives, and replaces the one before. The map alone would take half of the time of a small MakeSlice.
var proved [512]atomic.Uintptr

// descriptorBytes is about the distance of the descriptors that the linker places side by side.
const descriptorBytes = 32

// descriptor returns the address of the descriptor of v's dynamic type: the first word of an interface value.
func descriptor(v any) uintptr { return *(*uintptr)(unsafe.Pointer(&v)) }

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

// mostNamed bounds the text of a PointerError.
const mostNamed = 8

// findPointer returns the first pointer of t, or nil.
func findPointer(t reflect.Type, path string) *PointerError {
	all := appendPointers(nil, t, path)
	if len(all) == 0 {
		return nil
	}
	first := all[0]
	for i, e := range all[1:] {
		if i == mostNamed {
			first.others += fmt.Sprintf(" and %d more", len(all)-1-i)
			break
		}
		if i > 0 {
			first.others += ", "
		}
		first.others += e.Path
	}
	return first
}

// appendPointers visits t in field order. A value type cannot contain itself, so it ends.
func appendPointers(all []*PointerError, t reflect.Type, path string) []*PointerError {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.String, reflect.Map, reflect.Chan,
		reflect.Func, reflect.Interface, reflect.UnsafePointer:
		all = append(all, &PointerError{Path: path, Type: t})
	case reflect.Array:
		if t.Len() > 0 {
			all = appendPointers(all, t.Elem(), path+"[0]")
		}
	case reflect.Struct:
		for f := range t.Fields() {
			all = appendPointers(all, f.Type, path+"."+f.Name)
		}
	}
	return all
}
