package stack

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
)

// The race detector names two goroutines that use one End by the word that every call writes,
// in debug builds.
func TestEnd_EachCallWritesTheOwnerWord(t *testing.T) {
	if unsafe.Sizeof(invariant.Owner{}) == 0 {
		t.Skip("this build has no owner word")
	}
	ends(t, 1000, func(t *testing.T, e *End) {
		writes := func(what string, call func()) {
			t.Helper()
			word := (*uint64)(unsafe.Pointer(&e.owner))
			before := *word
			if call(); *word == before {
				t.Errorf("%s does not write the owner word", what)
			}
		}
		var p unsafe.Pointer
		var m Mark
		writes("Alloc", func() { p = memtest.MustAlloc(t, e, 10, 1) })
		writes("Resize", func() { e.Resize(p, 10, 5) })
		writes("Free", func() { e.Free(p, 5) })
		writes("Mark", func() { m = e.Mark() })
		writes("Rewind", func() { e.Rewind(m) })
		writes("Reset", e.Reset)
	})
}
