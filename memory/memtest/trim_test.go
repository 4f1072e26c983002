package memtest

import (
	"testing"
	"unsafe"
)

func TestTrimAnywhere_BoundsWhatStaysCommitted(t *testing.T) {
	for name, c := range map[string]struct {
		tamper func(x *tampered)
		want   string
	}{
		"right":             {untouched, ""},
		"Trim does nothing": {func(x *tampered) { x.trim = func(*tampered) error { return nil } }, "bytes committed, everything behind"},
		"Trim fails":        {func(x *tampered) { x.trim = func(*tampered) error { return errFull } }, "full"},
		"Trim breaks the books": {func(x *tampered) {
			x.trim = func(x *tampered) error { x.broken = true; return x.Heap.Trim() }
			x.check = func(x *tampered) error {
				if x.broken {
					return errFull
				}
				return nil
			}
		}, "Check: full"},
		"Trim takes a live block": {func(x *tampered) {
			x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
				p, err := x.Heap.Alloc(size, align)
				if err == nil && size > 0 && x.last == nil {
					x.last = p
				}
				return p, err
			}
			x.any = func(x *tampered, p unsafe.Pointer) {
				if p == x.last {
					x.last = nil
				}
				x.Heap.FreeAny(p)
			}
			x.trim = func(x *tampered) error {
				if x.last != nil {
					*(*byte)(x.last) ^= 0xFF
				}
				return x.Heap.Trim()
			}
		}, "of the live block"},
	} {
		saysOnly(t, name, c.want, func(tb testing.TB) {
			h, err := heap(nil)
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			x := &tampered{Heap: h}
			c.tamper(x)
			live := map[unsafe.Pointer]uintptr{}
			alloc, free := x.alloc, x.any
			x.alloc = func(x *tampered, size, align uintptr) (p unsafe.Pointer, err error) {
				if p, err = h.Alloc(size, align); alloc != nil {
					h.Free(p, size)
					p, err = alloc(x, size, align)
				}
				if err == nil {
					live[p] = size
				}
				return p, err
			}
			x.any = func(x *tampered, p unsafe.Pointer) {
				delete(live, p)
				if free != nil {
					free(x, p)
					return
				}
				h.FreeAny(p)
			}
			TrimAnywhere(tb, x, func() (tail uintptr) {
				for p, size := range live {
					tail = max(tail, uintptr(p)-uintptr(h.Base())+max(size, 16))
				}
				return tail
			})
		})
	}
}
