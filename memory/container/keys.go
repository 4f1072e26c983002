package container

import (
	"errors"
	"math"
	"reflect"
	"sync"
	"unsafe"
)

// ErrNaN means that a key contains a NaN. A NaN is not equal to any value, not even to itself, so no call could find,
// change or delete its entry.
var ErrNaN = errors.New("container: the key holds a NaN, which equals nothing and would never be found")

// A shape says what of a key's bytes does not follow from its value: padding between fields and
// blank fields, which may hold anything, and the sign of a zero. A nil shape says nothing: two
// keys of that type are equal where their bytes are.
type shape struct {
	gaps   []gap
	floats []gap
}

// A gap is a run of bytes in a key.
type gap struct{ off, size uintptr }

// shapes maps reflect.Type to *shape.
var shapes sync.Map

// shapeOf returns the shape of K; nil where bytes say it all. Cost: a map lookup.
func shapeOf[K comparable]() *shape {
	t := reflect.TypeFor[K]()
	v, ok := shapes.Load(t)
	if !ok {
		s := new(shape)
		if s.walk(t, 0); len(s.gaps)+len(s.floats) == 0 {
			s = nil
		}
		v, _ = shapes.LoadOrStore(t, s)
	}
	return v.(*shape)
}

// walk gathers what lies in a value of t that starts off bytes into the key.
func (s *shape) walk(t reflect.Type, off uintptr) {
	switch t.Kind() {
	case reflect.Float32, reflect.Float64:
		s.floats = append(s.floats, gap{off, t.Size()})
	case reflect.Complex64, reflect.Complex128:
		half := t.Size() / 2
		s.floats = append(s.floats, gap{off, half}, gap{off + half, half})
	case reflect.Array:
		if s.plain(t.Elem()) {
			return
		}
		for i := range t.Len() {
			s.walk(t.Elem(), off+uintptr(i)*t.Elem().Size())
		}
	case reflect.Struct:
		end := uintptr(0)
		for f := range t.Fields() {
			s.gap(off+end, f.Offset-end)
			if end = f.Offset + f.Type.Size(); f.Name == "_" {
				s.gap(off+f.Offset, f.Type.Size())
			} else {
				s.walk(f.Type, off+f.Offset)
			}
		}
		s.gap(off+end, t.Size()-end)
	}
}

// plain reports whether there is nothing to note of t.
func (*shape) plain(t reflect.Type) bool {
	var s shape
	s.walk(t, 0)
	return len(s.gaps)+len(s.floats) == 0
}

func (s *shape) gap(off, size uintptr) {
	if size > 0 {
		s.gaps = append(s.gaps, gap{off, size})
	}
}

// normalise gives equal keys equal bytes: what lies in gaps becomes 0, and so does -0.
func (s *shape) normalise(k unsafe.Pointer) {
	for _, g := range s.gaps {
		clear(unsafe.Slice((*byte)(unsafe.Add(k, g.off)), g.size))
	}
	for _, f := range s.floats {
		p := unsafe.Add(k, f.off)
		if f.size == 4 {
			if x := (*float32)(p); *x == 0 {
				*x = 0
			}
		} else if x := (*float64)(p); *x == 0 {
			*x = 0
		}
	}
}

// normal reports whether normalise would change nothing.
func (s *shape) normal(k unsafe.Pointer) bool {
	for _, g := range s.gaps {
		if !zero(unsafe.Add(k, g.off), g.size) {
			return false
		}
	}
	for _, f := range s.floats {
		p := unsafe.Add(k, f.off)
		if f.size == 4 && math.Float32bits(*(*float32)(p)) == 1<<31 || f.size == 8 && math.Float64bits(*(*float64)(p)) == 1<<63 {
			return false
		}
	}
	return true
}

// normalise is shape.normalise for K, which has a shape, out of the way of those that have none.
//
//go:noinline
func normalise[K comparable](k *K) { shapeOf[K]().normalise(unsafe.Pointer(k)) }
