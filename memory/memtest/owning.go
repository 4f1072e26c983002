package memtest

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// owns verifies that Owns is true for the first and the last byte of each live block, and false for
// nil, for the Go heap, for a block of another allocator, and for everything in front of and beyond
// the allocator's reservations, at distances from one byte to 1 MiB.
func owns(t testing.TB, s Subject) {
	src := NewMargins()
	a := s.make(t, src)
	o, ok := a.(memory.Owner)
	if !ok {
		return
	}
	goHeap := new([64]uint64)
	foreign := []unsafe.Pointer{nil, unsafe.Pointer(goHeap), MustAlloc(t, s.make(t, NewMargins()), s.size(64), 16)}
	m := &machine{tb: t, s: s, a: a, shadow: NewShadow(t)}
	for seed := range uint64(Rounds(8)) {
		m.run(RandomProgram(seed+120, 60))
		for _, b := range m.shadow.Live() {
			if !o.Owns(b.Ptr) || b.Size > 0 && !o.Owns(unsafe.Add(b.Ptr, b.Size-1)) {
				t.Fatalf("Owns is false for the first or last byte of the live block %p of %d bytes", b.Ptr, b.Size)
			}
		}
		for _, p := range append(src.Outside(), foreign...) {
			if o.Owns(p) {
				t.Fatalf("Owns(%p) is true outside of every reservation of the allocator", p)
			}
		}
	}
	m.finish()
}
