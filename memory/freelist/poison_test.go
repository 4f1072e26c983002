//go:build memdebug || race

package freelist

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
)

// poisoned reports the first byte of free memory that is not filled as such.
func poisoned(h *Heap) error {
	for _, r := range h.runs {
		if i, ok := invariant.Intact(unsafe.Add(h.base, h.grain.Bytes(r.off)), h.grain.Bytes(r.size)); !ok {
			return fmt.Errorf("byte %d of the run at granule %d is not poisoned", i, r.off)
		}
	}
	return nil
}

// Every byte of free memory is poisoned, whatever road it took: fresh, freed, split, merged,
// reset, trimmed and committed again.
func TestPoison_CoversAllThatIsFree(t *testing.T) {
	for _, kind := range policies {
		h := newHeap(t, nil, Config{Reserve: 512 << 10, Policy: kind})
		r, shadow := rand.New(rand.NewPCG(3, 5)), memtest.NewShadow(t)
		for step := range 2000 {
			n := len(shadow.Live())
			switch what := r.IntN(10); {
			case what < 5:
				size, al := r.UintN(8000), uint(1)<<r.UintN(13)
				if p, err := h.Alloc(uintptr(size), uintptr(al)); err == nil {
					shadow.Add(p, uintptr(size), uintptr(al))
				}
			case what < 8 && n > 0:
				b := shadow.Take(r.IntN(n))
				h.Free(b.Ptr, b.Size)
			case n > 0:
				k := r.IntN(n)
				b, size := shadow.Live()[k], uintptr(r.UintN(9000))
				if h.Resize(b.Ptr, b.Size, size) {
					shadow.Resize(k, size)
				}
			}
			if step%100 == 99 {
				if err := h.Trim(); err != nil {
					t.Fatal(err)
				}
			}
			if step%700 == 699 {
				shadow.Clear()
				h.Reset()
			}
			if err := poisoned(h); err != nil {
				t.Fatalf("%v, step %d: %v", kind, step, err)
			}
		}
	}
}

// A write to memory that is free is told by the Alloc that would hand it out, which hands nothing
// out; the next one succeeds.
func TestPoison_AWriteToFreeMemoryIsToldByTheNextAlloc(t *testing.T) {
	for _, kind := range policies {
		for _, at := range []uintptr{0, 17, 250, 255} {
			h := newHeap(t, nil, Config{Reserve: 64 << 10, Policy: kind})
			memtest.MustAlloc(t, h, 256, 1)
			p := memtest.MustAlloc(t, h, 250, 16)
			h.Free(p, 250)
			h.rover = 0
			*(*byte)(unsafe.Add(p, at)) = 0x41
			before := h.Stats()
			m := memtest.Misuse(t, func() { _, _ = h.Alloc(250, 16) }, "freelist.Alloc", "use after free",
				fmt.Sprintf("byte %d of 256 free bytes was written, with 0x41", at))
			if m.Addr != uintptr(p) {
				t.Errorf("%v: it names %#x, the block is %p", kind, m.Addr, p)
			}
			if after := h.Stats(); after != before {
				t.Errorf("%v: it changed the books from %+v to %+v", kind, before, after)
			}
			memtest.MustCheck(t, h)
			if q := memtest.MustAlloc(t, h, 250, 16); q != p {
				t.Errorf("%v: the block was lost: %p, want %p", kind, q, p)
			}
		}
	}
}

func TestPoison_AnOverflowIntoFreeMemoryIsToldByResize(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 64 << 10})
	p := memtest.MustAlloc(t, h, 256, 1)
	*(*byte)(unsafe.Add(p, 300)) = 7
	before := h.Stats()
	memtest.Misuse(t, func() { h.Resize(p, 256, 1024) }, "freelist.Resize", "byte 44 of 768 free bytes was written, with 0x7")
	if after := h.Stats(); after != before {
		t.Errorf("it changed the books from %+v to %+v", before, after)
	}
	memtest.MustCheck(t, h)
	if !h.Resize(p, 256, 1024) {
		t.Error("the block does not grow any more")
	}
}
