package slab

import (
	"testing"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

// A heap with live blocks everywhere returns what lies between them, and the process has no mapping more for it.
func TestHeap_TrimStepSplitsNoMapping(t *testing.T) {
	if invariant.Debug {
		t.Skip("in debug builds a hole is inaccessible")
	}
	limit := page.NewLimit(page.OS(), 0)
	h, err := New(limit, Config{Reserve: 256 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	var all []owned
	for range 64 << 20 / 4096 {
		all = append(all, owned{memtest.MustAlloc(t, h, 4096, 16), 4096})
	}
	for i, b := range all {
		if i%32 > 0 {
			h.Free(b.p, b.n)
		}
	}
	for range 4 {
		for h.Sweep(1 << 20) {
		}
	}
	holes := 0
	for n := uintptr(1); n > 0; holes++ {
		if n, err = h.TrimStep(128 << 10); err != nil {
			t.Fatal(err)
		}
	}
	if n := testenv.Mappings(t, h.Base(), 256<<20); n > 3 || holes < 400 {
		t.Errorf("%d mappings after %d steps", n, holes)
	}
	if s := h.Stats(); s.Committed > 40<<20 || s.Committed != uint64(limit.Committed()) || h.Check() != nil {
		t.Errorf("%+v, the source has %d bytes, %v", s, limit.Committed(), h.Check())
	}
	for i, b := range all { // the holes can be used again
		if i%32 > 0 {
			memtest.MustAlloc(t, h, b.n, 16)
		}
	}
	memtest.MustCheck(t, h)
}
