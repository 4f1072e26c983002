package memtest

import (
	"errors"
	"io"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// Opened returns a, the result of a constructor. If err is not nil, Opened fails the test. When the test ends, Check of
// a is called, and Close if a is an io.Closer. An error of Check or Close fails the test.
func Opened[A memory.Checker](tb testing.TB, a A, err error) A {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		tb.Helper()
		err := a.Check()
		if c, ok := any(a).(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
		if err != nil {
			tb.Error(err)
		}
	})
	return a
}

// MustAlloc returns a block of size bytes of a, aligned to align. If Alloc fails, MustAlloc ends the test, as tb.Fatal
// does.
func MustAlloc(tb testing.TB, a memory.Allocator, size, align uintptr) unsafe.Pointer {
	p, err := a.Alloc(size, align)
	if err != nil {
		tb.Helper() // not before: it costs more than an Alloc
		tb.Fatalf("Alloc(%d, %d): %v", size, align, err)
	}
	return p
}

// MustCheck ends the test, as tb.Fatal does, if Check of c returns an error.
func MustCheck(tb testing.TB, c memory.Checker) {
	if err := c.Check(); err != nil {
		tb.Helper()
		tb.Fatalf("Check: %v", err)
	}
}
