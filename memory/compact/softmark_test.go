package compact

import (
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// A soft mark is told in the midst of the Alloc that commits. Its function must not allocate, but
// what it gets is not had twice.
func TestAlloc_WhatTheSoftMarkTakesIsNotHadTwice(t *testing.T) {
	unit := page.SizeOf(page.Default())
	for _, size := range []uintptr{unit + 3616, 4*unit - 5536} {
		limit := page.NewLimit(nil, 0)
		h, err := New(limit, Config{Reserve: 8 << 20, Step: 16 << 10})
		if err != nil {
			t.Fatal(err)
		}
		live := uint64(1)
		if _, err := h.Alloc(1000); err != nil {
			t.Fatal(err)
		}
		limit.OnSoft(limit.Committed(), func(uintptr, uintptr) {
			defer func() {
				if m, ok := recover().(*memory.Misuse); !ok || m.Op != "Ensure" {
					t.Errorf("where more must be committed: %v", m)
				}
			}()
			limit.OnSoft(0, nil)
			for ; ; live++ {
				if _, err := h.Alloc(500); err != nil {
					t.Error(err)
				}
			}
		})
		for range 3 {
			if _, err := h.Alloc(size); err != nil {
				t.Fatal(err)
			}
			if s := h.Stats(); s.InUse > s.Committed {
				t.Fatalf("%d bytes are in use of the %d that are committed", s.InUse, s.Committed)
			}
		}
		if err := h.Check(); err != nil || h.Stats().Live != live+3 || live < 10 {
			t.Errorf("%v; %d live, want %d", err, h.Stats().Live, live+3)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAlloc_AHeapWhoseSourceTheSoftMarkEndsIsClosed(t *testing.T) {
	mortal := memtest.NewMortal(t, nil, 1<<20)
	limit := page.NewLimit(mortal, 0)
	h := newHeap(t, limit, Config{Reserve: 512 << 10})
	limit.OnSoft(limit.Committed(), func(uintptr, uintptr) { mortal.End(t) })
	if x, err := h.Alloc(10_000); err != memory.ErrClosed || !x.IsZero() {
		t.Errorf("Alloc = %v, %v; want ErrClosed", x, err)
	}
	if n := h.Stats().Failures; n != 0 {
		t.Errorf("%d failures", n)
	}
	mustCheck(t, h)
}
