package memory

import (
	"unsafe"

	"github.com/strata-go/strata/memory/internal/align"
)

// A Type is proof that T is pointer-free. The typed constructors of allocators take a Type, so that they need no
// check on each call. Make the Type once, at start-up:
//
//	var enemyType = memory.MustType[Enemy]()
//	...
//	e, err := arena.New(frame, enemyType)
//
// The zero Type proves nothing: every allocation with the zero Type fails. The error is [ErrTooLarge] unless the
// function documents another one. Only [TypeFor] and [MustType] return a valid Type, and a Type[T] does not convert
// to a Type of another T.
type Type[T any] struct {
	//lint:ignore U1000 it is there for its type
	of [0]*T // a Type of another type does not convert to this one

	// plus1 is the size of T plus 1, so that the zero Type differs from that of an empty T.
	plus1 uintptr
}

// TypeFor returns the proof that T is pointer-free. If T contains a Go pointer, it returns the zero Type and the
// [*PointerError] of [PointerFree].
func TypeFor[T any]() (Type[T], error) {
	if err := PointerFree[T](); err != nil {
		return Type[T]{}, err
	}
	return Type[T]{plus1: unsafe.Sizeof(*new(T)) + 1}, nil
}

// MustType is [TypeFor] for package-level variables. If T contains a Go pointer, it panics with a [*PointerError].
func MustType[T any]() Type[T] {
	t, err := TypeFor[T]()
	if err != nil {
		panic(err)
	}
	return t
}

// Size returns the size of T in bytes. For the zero Type it returns a size that no allocator can serve.
func (t Type[T]) Size() uintptr { return t.plus1 - 1 }

// Valid reports whether t was made by [TypeFor] or [MustType]. Valid returns false for the zero Type only.
func (t Type[T]) Valid() bool { return t.plus1 != 0 }

// New allocates one zeroed T from a. The caller owns the object until it is freed with [Free], until a is reset or
// closed, or until the page source of a ends. If T has size 0, the object must not be accessed: there may be no memory
// at its address.
//
// If T contains a Go pointer, the error is a [*PointerError]. All other errors are those of a.Alloc. Cost: about 3 ns
// for the check of the type, a call through the interface, and zeroing.
func New[T any](a Allocator) (*T, error) {
	s, err := MakeSlice[T](a, 1)
	if err != nil {
		return nil, err
	}
	return unsafe.SliceData(s), nil
}

// MakeSlice allocates n zeroed values of T from a, as a slice with length and capacity n. Appending to the slice
// allocates a copy on the Go heap. The caller owns the slice until it is freed with [FreeSlice], until a is reset or
// closed, or until the page source of a ends.
//
// If T contains a Go pointer, the error is a [*PointerError]. If n is negative or n times the size of T overflows, the
// error is [ErrTooLarge]. All other errors are those of a.Alloc.
func MakeSlice[T any](a Allocator, n int) ([]T, error) {
	if err := PointerFree[T](); err != nil {
		return nil, err
	}
	size, ok := align.Mul(n, unsafe.Sizeof(*new(T)))
	if !ok {
		return nil, ErrTooLarge
	}
	p, err := a.Alloc(size, unsafe.Alignof(*new(T)))
	if err != nil {
		return nil, err
	}
	s := unsafe.Slice((*T)(p), n)
	clear(s)
	return s, nil
}

// Clone allocates a copy of s from a, with length and capacity len(s). It allocates a block also if s is nil or empty.
// The caller owns the copy, as with [MakeSlice]. If T contains a Go pointer, the error is a [*PointerError]. All other
// errors are those of a.Alloc.
func Clone[T any](a Allocator, s []T) ([]T, error) {
	if err := PointerFree[T](); err != nil {
		return nil, err
	}
	p, err := a.Alloc(uintptr(len(s))*unsafe.Sizeof(*new(T)), unsafe.Alignof(*new(T)))
	if err != nil {
		return nil, err
	}
	c := unsafe.Slice((*T)(p), len(s))
	copy(c, s)
	return c, nil
}

// Free frees an object that [New] returned. If p is nil, Free does nothing. If a.Free detects misuse, Free panics
// with a [*Misuse].
func Free[T any](a Allocator, p *T) { a.Free(unsafe.Pointer(p), unsafe.Sizeof(*p)) }

// FreeSlice frees a slice that [MakeSlice], [Clone] or [GrowSlice] returned. If s is nil, FreeSlice does nothing. The
// slice s must begin at the same element and have the same length as when it was returned. Any other slice is misuse.
// If a.Free detects it, FreeSlice panics with a [*Misuse].
func FreeSlice[T any](a Allocator, s []T) {
	a.Free(unsafe.Pointer(unsafe.SliceData(s)), uintptr(len(s))*unsafe.Sizeof(*new(T)))
}
