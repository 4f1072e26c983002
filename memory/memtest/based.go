package memtest

import (
	"testing"

	"github.com/strata-go/strata/memory"
)

// baseStays verifies that blocks may be called by their offsets: they lie behind Base, within
// the address space that the books know, and Base is where it was until Close.
func baseStays(t testing.TB, s Subject) {
	a, shadow := s.make(t, NewMargins()), NewShadow(t) // a wrong Base is a pointer that may exist, too
	b, ok := a.(memory.Baser)
	if !ok || b.Base() == nil {
		return // its blocks lie in several ranges
	}
	base := b.Base()
	if uintptr(base)%memory.MaxAlign != 0 {
		t.Errorf("Base is %p, which is not aligned to %d", base, uintptr(memory.MaxAlign))
	}
	for i := range uint32(60) {
		size, al := s.size(i*977+3), s.align(i)
		p, err := a.Alloc(size, al)
		if err != nil {
			continue
		}
		shadow.Add(p, size, al)
		extent := memory.Extent(a)
		if off := uintptr(p) - uintptr(base); off > extent || size > extent-off {
			t.Fatalf("a block of %d bytes lies at %p, outside the %d bytes from Base, %p", size, p, extent, base)
		}
		if b.Base() != base {
			t.Fatalf("Base was %p and is %p after %d blocks", base, b.Base(), i+1)
		}
	}
	shadow.FreeAll(a)
	if r, ok := a.(memory.Resetter); ok {
		r.Reset()
	}
	if b.Base() != base {
		t.Errorf("Base was %p and is %p when all is free", base, b.Base())
	}
}
