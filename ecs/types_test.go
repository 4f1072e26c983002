package ecs

import (
	"reflect"
	"testing"
	"unsafe"
)

// registerType makes the type of v a component of w, as Register does. It costs a build of the tests nothing for each
// type.
func registerType(t testing.TB, w *World, v any) ID {
	t.Helper()
	c, fresh, err := w.register(reflect.TypeOf(v))
	if err != nil {
		t.Fatal(err)
	}
	if fresh && c.pointerful {
		of := reflect.SliceOf(c.typ)
		c.makeColumn = func(n int) unsafe.Pointer { return reflect.MakeSlice(of, n, n).UnsafePointer() }
		c.copyCells = func(dst, src unsafe.Pointer, n int) {
			reflect.Copy(reflect.SliceAt(c.typ, dst, n), reflect.SliceAt(c.typ, src, n))
		}
		c.clearCells = func(p unsafe.Pointer, n int) { reflect.SliceAt(c.typ, p, n).Clear() }
	}
	return c.id
}

// newMapper returns the part of a Map that does not depend on types.
func newMapper(w *World, ids ...ID) *mapper {
	m := new(mapper)
	m.init(w, ids...)
	return m
}

// newBatch creates n entities with these components, zeroed, as NewBatch of a Map does.
func newBatch(w *World, n int, ids ...ID) error { return newMapper(w, ids...).newColumns(n, true, nil) }

// newValue creates an entity with these values.
func newValue(t testing.TB, w *World, values ...any) Entity {
	t.Helper()
	var ids []ID
	for _, v := range values {
		ids = append(ids, registerType(t, w, v))
	}
	e, _, err := newMapper(w, ids...).spawn()
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		if err := addValue(w, e, ids[i], v); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// addValue adds a component with a value, as Add does.
func addValue(w *World, e Entity, id ID, v any) error {
	p, err := w.AddID(e, id)
	if err == nil {
		reflect.NewAt(w.store.comps[id].typ, p).Elem().Set(reflect.ValueOf(v))
	}
	return err
}

// Twelve types of three shapes, for tests that want many. The compiler generates every function of Component
// and the others again for each shape that a test names, and once for all types that share it: a
// type that is like none here costs each build of the tests a tenth of a second. If only its size matters, use
// RegisterSize, registerType, newMapper and NewFilterOf.
type (
	wide1  [1]uint16
	wide2  [2]uint16
	wide3  [3]uint16
	wide4  [1]uint16
	wide5  [2]uint16
	wide6  [3]uint16
	wide7  [1]uint16
	wide8  [2]uint16
	wide9  [3]uint16
	wide10 [1]uint16
	wide11 [2]uint16
	wide12 [3]uint16
)
