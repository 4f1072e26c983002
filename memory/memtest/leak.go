package memtest

import (
	"testing"

	"github.com/strata-go/strata/memory"
)

// Leak returns a function that allocates perSecond bytes a second in blocks of size bytes and frees none. Call the
// function with the seconds since its last call. Bytes that do not fill a block are allocated in a later call. The size
// must be a whole number above 0. If an allocation fails, the test fails. Call the function only on the goroutine that
// uses a.
func Leak(t testing.TB, a memory.Allocator, perSecond, size float64) func(dt float64) {
	owed := 0.0
	return func(dt float64) {
		for owed += perSecond * dt; owed >= size; owed -= size {
			MustAlloc(t, a, uintptr(size), 16)
		}
	}
}
