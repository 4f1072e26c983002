package goheap

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

func TestPlain_BlocksAreAlignedZeroedAndOneObjectEach(t *testing.T) {
	for _, mem := range []memory.Allocator{Plain{}, &Pooled{}} {
		for size := uintptr(0); size < 5000; size += 7 {
			for _, align := range []uintptr{1, 4, 8, 16, 64} {
				p, err := mem.Alloc(size, align)
				if p == nil || err != nil || uintptr(p)%align != 0 {
					t.Fatalf("%T: %d bytes aligned to %d lie at %p, %v", mem, size, align, p, err)
				}
				for _, b := range unsafe.Slice((*byte)(p), size) {
					if b != 0 {
						t.Fatalf("%T: %d bytes are not zero", mem, size)
					}
				}
			}
		}
	}
	var kept unsafe.Pointer
	for _, size := range []uintptr{24, 256, 4096, 16 << 10, 1 << 20} {
		if n := testing.AllocsPerRun(50, func() { kept, _ = Plain{}.Alloc(size, 64) }); n > 1.5 {
			t.Errorf("%d bytes are %v objects", size, n)
		}
	}
	if kept == nil {
		t.Error("nothing")
	}
}

func TestPooledHeap_GivesBackWhatWasFreedWithoutGarbage(t *testing.T) {
	h := &Pooled{}
	n := testing.AllocsPerRun(200, func() {
		p, _ := h.Alloc(200, 8)
		*(*[25]uint64)(p) = [25]uint64{24: 1}
		h.Free(p, 200)
	})
	if n > 0.5 { // a collection may empty it
		t.Errorf("%v objects for a block that was there", n)
	}
	h.Free(nil, 200)
	if p, _ := h.Alloc(200, 8); p == nil {
		t.Error("nil came back")
	}
}
