package slab

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

func TestRelay_PassesEveryRequestOn(t *testing.T) {
	var size, align uintptr
	var block [16]byte
	refused := errors.New("refused")
	r := NewRelay(func(s, a uintptr) (unsafe.Pointer, error) {
		if size, align = s, a; s == 7 {
			return nil, refused
		}
		return unsafe.Pointer(&block), nil
	})
	for _, s := range []uintptr{0, 1, 16, 4096, 4097, ^uintptr(0)} {
		for _, a := range []uintptr{0, 1, 3, 8, 4096, 1 << 20} {
			if p, err := r.Alloc(s, a); p != unsafe.Pointer(&block) || err != nil || size != s || align != a {
				t.Errorf("Alloc(%d, %d): %p, %v; f got %d, %d", s, a, p, err, size, align)
			}
		}
	}
	if p, err := r.Alloc(7, 8); p != nil || err != refused {
		t.Errorf("%p, %v", p, err)
	}
}

func TestRelay_IsClosedOtherwise(t *testing.T) {
	r := NewRelay(func(uintptr, uintptr) (unsafe.Pointer, error) { return nil, nil })
	if err := errors.Join(r.Close(), r.Check()); err != nil || r.Base() != nil || r.Stats() != (memory.Stats{}) {
		t.Errorf("%v, %p, %+v", err, r.Base(), r.Stats())
	}
	if r.Owns(unsafe.Pointer(r)) || !errors.Is(r.Trim(), memory.ErrClosed) {
		t.Error("it owns memory, or Trim works")
	}
}
