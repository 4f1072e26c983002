package memory

import (
	"unsafe"

	"github.com/strata-go/strata/memory/internal/align"
)

// A Type is proof that T was found pointer-free. Families take it where a check per call
// would cost more than the allocation: make it once, at start-up, and pass it along.
//
//	var enemyType = memory.MustType[Enemy]()
//	...
//	e, err := arena.New(frame, enemyType)
//
// The zero Type proves nothing: every allocation with it fails, with ErrTooLarge where nothing
// else is said. A Type can be had from TypeFor and MustType only, and not by converting another one.
type Type[T any] struct {
	//lint:ignore U1000 it is there for its type
	of [0]*T // a Type of another type does not convert to this one

	// room is one more than T's size, so that the zero Type is told apart from an empty T.
	room uintptr
}

// TypeFor checks T and returns the proof, or a [*PointerError] naming the field.
func TypeFor[T any]() (Type[T], error) {
	if err := PointerFree[T](); err != nil {
		return Type[T]{}, err
	}
	return Type[T]{room: unsafe.Sizeof(*new(T)) + 1}, nil
}

// MustType is TypeFor for package-level variables: it panics where TypeFor fails.
func MustType[T any]() Type[T] {
	t, err := TypeFor[T]()
	if err != nil {
		panic(err)
	}
	return t
}

// Size returns the size of T in bytes, or a size that no allocator can meet for the zero Type.
func (t Type[T]) Size() uintptr { return t.room - 1 }

// Valid reports whether t came from TypeFor.
func (t Type[T]) Valid() bool { return t.room != 0 }

// New allocates one zeroed T from a. The object belongs to the caller until it is given
// back by [Free], or a is reset or closed. A T without size is as a block of size 0: there may be
// no memory behind its address, even to read nothing from it faults in a full arena.
//
// The error is a [*PointerError] or what a.Alloc returned. Cost: a map lookup for the
// type check, an interface call and the zeroing; a family's own New avoids the first two.
func New[T any](a Allocator) (*T, error) {
	s, err := MakeSlice[T](a, 1)
	if err != nil {
		return nil, err
	}
	return unsafe.SliceData(s), nil
}

// MakeSlice allocates n zeroed values of T from a, as a slice with length and capacity n;
// appending beyond that moves to the Go heap, as append always does. Errors as New, and
// [ErrTooLarge] where n is negative or n*size overflows.
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

// Free gives back what [New] returned. A nil pointer is a no-op; misuse panics as a.Free does.
func Free[T any](a Allocator, p *T) { a.Free(unsafe.Pointer(p), unsafe.Sizeof(*p)) }

// FreeSlice gives back what MakeSlice returned; the length must be the one it was made with.
func FreeSlice[T any](a Allocator, s []T) {
	a.Free(unsafe.Pointer(unsafe.SliceData(s)), uintptr(len(s))*unsafe.Sizeof(*new(T)))
}
