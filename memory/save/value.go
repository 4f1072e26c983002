package save

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// Value adds the variable at v to the Set. If T contains a Go pointer, the error wraps a *memory.PointerError that
// names the field. If v is nil, the error wraps memory.ErrConfig. The other errors are those of [Set.Add].
func Value[T any](s *Set, name string, v *T) error {
	if v == nil {
		return fmt.Errorf("save: add %q: the variable is nil: %w", name, memory.ErrConfig)
	}
	if err := memory.PointerFree[T](); err != nil {
		return fmt.Errorf("save: add %q: %w", name, err)
	}
	t := reflect.TypeFor[T]()
	return s.Add(name, &value{t, "the size of " + t.String(), unsafe.Pointer(v)})
}

type value struct {
	typ  reflect.Type
	size string
	p    unsafe.Pointer
}

// CanWrite returns nil: [Set.Portable] checks the type itself.
func (v *value) CanWrite() error { return nil }

// RowType returns the type of the variable.
func (v *value) RowType() reflect.Type { return v.typ }

func (v *value) SaveState(c *Coder) {
	c.Elements(v.typ)
	c.Same(v.size, uint64(v.typ.Size()))
	c.Rows("", v.typ, v.p, v.typ.Size(), 1)
}

// Slice adds a slice variable to the Set: its length and its elements. When a state is loaded, the elements are copied
// into the array that the slice has then. If its capacity is too small, the variable gets a new array, and copies of
// the old slice no longer share elements with it. The errors are those of [Value].
func Slice[T any](s *Set, name string, v *[]T) error {
	if v == nil {
		return fmt.Errorf("save: add %q: the variable is nil: %w", name, memory.ErrConfig)
	}
	if err := memory.PointerFree[T](); err != nil {
		return fmt.Errorf("save: add %q: %w", name, err)
	}
	return s.Add(name, &slice[T]{v})
}

type slice[T any] struct{ v *[]T }

// CanWrite returns nil: [Set.Portable] checks the type itself.
func (l *slice[T]) CanWrite() error { return nil }

// RowType returns the type of an element.
func (l *slice[T]) RowType() reflect.Type { return reflect.TypeFor[T]() }

func (l *slice[T]) SaveState(c *Coder) {
	c.Elements(l.RowType())
	List(c, l.v)
}

// AddFunc adds a State whose SaveState is f, for data that needs code to be visited. f must obey the rules of [State].
// The errors are those of [Set.Add]. If f is nil, the error wraps memory.ErrConfig. In a Set for files f must obey
// [Coder.Portable], too.
func (s *Set) AddFunc(name string, f func(c *Coder)) error {
	if f == nil {
		return s.Add(name, nil)
	}
	return s.Add(name, &function{f})
}

type function struct{ f func(c *Coder) }

// CanWrite returns nil. If f visits a value that cannot be in a file, Write, Read or Verify fails.
func (v *function) CanWrite() error { return nil }

func (v *function) SaveState(c *Coder) { v.f(c) }
