package save

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A Composite is a State that saves other States, as a tiers.Manager saves its pools. States calls yield with each of
// them until yield returns false. [Set.Add] and [Set.Seal] call States to find a State that would be saved twice.
type Composite interface {
	State
	States(yield func(State) bool)
}

// withStates calls f with s and all States that s saves.
func withStates(s State, f func(State)) {
	f(s)
	if c, ok := s.(Composite); ok {
		c.States(func(x State) bool { withStates(x, f); return true })
	}
}

// A variable is a State of Value or Slice.
type variable interface {
	memory() (p unsafe.Pointer, size uintptr)
}

// memory returns the variable.
func (v *value) memory() (unsafe.Pointer, uintptr) { return v.p, v.typ.Size() }

// memory returns the slice, without its array.
func (l *slice[T]) memory() (unsafe.Pointer, uintptr) {
	return unsafe.Pointer(l.v), unsafe.Sizeof(*l.v)
}

// twice returns an error if a State is saved by both parts.
func twice(a, b *part) (err error) {
	withStates(a.state, func(x State) {
		withStates(b.state, func(y State) {
			if err == nil && (equal(x, y) || overlap(x, y)) {
				err = fmt.Errorf("%q and %q both save the %s: %w", a.name, b.name, describe(x), memory.ErrConfig)
			}
		})
	})
	return err
}

func equal(x, y State) bool {
	return reflect.TypeOf(x) == reflect.TypeOf(y) && reflect.ValueOf(x).Comparable() && x == y
}

// overlap reports whether two variables have common bytes, or a State lies in a variable of Value, which saves all of it.
func overlap(x, y State) bool {
	a, isVar := x.(variable)
	b, other := y.(variable)
	switch {
	case isVar && other:
		p, n := a.memory()
		q, m := b.memory()
		return n > 0 && m > 0 && uintptr(p) < uintptr(q)+m && uintptr(q) < uintptr(p)+n
	case isVar:
		return lies(y, a)
	case other:
		return lies(x, b)
	}
	return false
}

// lies reports whether the struct to which a State points lies in a variable of Value.
func lies(s State, in variable) bool {
	r := reflect.ValueOf(s)
	if _, ok := in.(*value); !ok || r.Kind() != reflect.Pointer || r.IsNil() {
		return false
	}
	p, n := in.memory()
	size := r.Type().Elem().Size()
	return size > 0 && size <= n && r.Pointer()-uintptr(p) <= n-size
}

// describe names a State in an error.
func describe(s State) string {
	if v, ok := s.(*value); ok {
		return v.typ.String()
	}
	if named, ok := s.(interface{ Name() string }); ok {
		return fmt.Sprintf("%T %q", s, named.Name())
	}
	return fmt.Sprintf("%T", s)
}

// allTwice returns an error for each pair of parts that saves a State twice.
func (s *Set) allTwice() error {
	var errs []error
	for i := range s.parts {
		for k := range i {
			if err := twice(&s.parts[k], &s.parts[i]); err != nil {
				errs = append(errs, fmt.Errorf("save: %w; remove one of them", err))
			}
		}
	}
	return errors.Join(errs...)
}
