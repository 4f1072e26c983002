package memtest

import (
	"testing"

	"github.com/strata-go/strata/memory"
)

// Leak returns what allocates perSecond bytes a second in blocks of size bytes and frees none, for tests of
// whoever watches an allocator: it is called with the seconds that have passed since the last call, and owes what
// is less than a block until the next one. An allocation that fails ends the test. It belongs to the goroutine of a.
func Leak(t testing.TB, a memory.Allocator, perSecond, size float64) func(dt float64) {
	owed := 0.0
	return func(dt float64) {
		for owed += perSecond * dt; owed >= size; owed -= size {
			MustAlloc(t, a, uintptr(size), 16)
		}
	}
}
