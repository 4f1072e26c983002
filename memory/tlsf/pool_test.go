package tlsf

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

func TestAddPool_BlocksOfTwoPoolsNeverMerge(t *testing.T) {
	h := newHeap(t, nil, tiny)
	if err := h.AddPool(nil, 32<<10); err != nil {
		t.Fatal(err)
	}
	var p []unsafe.Pointer
	for range 12 {
		p = append(p, memtest.MustAlloc(t, h, 4096, 4096))
	}
	if s := h.Stats(); s.Reserved != 48<<10 || s.LargestFree != 0 || s.InUse != 48<<10 {
		t.Errorf("full: %+v", s)
	}
	for _, q := range p {
		if !h.Owns(q) || h.SizeOf(q) != 4096 {
			t.Errorf("%p: owned %t, size %d", q, h.Owns(q), h.SizeOf(q))
		}
	}
	for i := range p {
		if i%3 == 0 {
			h.FreeAny(p[i])
		} else {
			h.Free(p[i], 4096)
		}
		memtest.MustCheck(t, h)
	}
	memtest.Misuse(t, func() { h.Free(p[11], 4096) }, "double free")
	memtest.Misuse(t, func() { h.Free(unsafe.Add(p[11], 1), 4096) }, "double free or stale")
	if s := h.Stats(); s.LargestFree != 32<<10 || s.InUse != 0 {
		t.Errorf("empty: %+v", s)
	}
	p[0] = memtest.MustAlloc(t, h, 20<<10, 1) // larger than the first pool
	if !h.Resize(p[0], 20<<10, 32<<10) {
		t.Error("a block of the second pool did not grow")
	}
	memtest.Misuse(t, func() { h.Free(p[0], 20<<10) }, "wrong size")
	if err := h.Trim(); err != nil {
		t.Error(err)
	}
}

func TestAddPool_Refusals(t *testing.T) {
	src := memtest.NewFaulty()
	h := newHeap(t, src, Config{Reserve: 64 << 10})
	if err := h.AddPool(src, 0); err == nil || !strings.Contains(err.Error(), "add pool of 0 bytes: want 1 to") {
		t.Errorf("0 bytes: %v", err)
	}
	src.FailAt, src.ForGood = src.Calls()+1, true
	if err := h.AddPool(src, 1<<20); err == nil || !strings.Contains(err.Error(), "add pool of 1048576 bytes") {
		t.Errorf("refused by the system: %v", err)
	}
	src.FailAt = 0
	memtest.MustCheck(t, h)
	for range maxPools - 1 {
		if err := h.AddPool(src, 16<<10); err != nil {
			t.Fatal(err)
		}
	}
	memtest.MustCheck(t, h) // as many as there may be
	if err := h.AddPool(src, 16<<10); err == nil || !strings.Contains(err.Error(), "want at most 16 pools") {
		t.Errorf("one pool too many: %v", err)
	}
	if err := h.Close(); err != nil || src.Reserved() != 0 {
		t.Errorf("Close: %v, %d reservations left", err, src.Reserved())
	}
}

func TestAddPool_GrowthGoesOnWhereABudgetAllows(t *testing.T) {
	h := newHeap(t, page.NewLimit(nil, 64<<10), Config{Reserve: 1 << 20, Step: 64 << 10})
	if err := h.AddPool(nil, 1<<20); err != nil {
		t.Fatal(err)
	}
	memtest.MustAlloc(t, h, 64<<10, 1)
	p := memtest.MustAlloc(t, h, 64<<10, 1)
	if h.pools[0].mem.Contains(p) {
		t.Error("the second block lies in the pool without a budget")
	}
}

func TestPool_ABaseIsForBlocksInOnePool(t *testing.T) {
	h, err := New(nil, Config{})
	memtest.Opened(t, h, err)
	if h.Base() != h.pools[0].base || h.Base() == nil {
		t.Errorf("Base is %p, the pool is at %p", h.Base(), h.pools[0].base)
	}
	if err := h.AddPool(nil, 1<<20); err != nil || h.Base() != nil {
		t.Errorf("%v; with two pools Base is %p", err, h.Base())
	}
}

// No pool's books outlive the blocks that they speak of.
func TestClose_OfSeveralPoolsAtFaultsIsToldToWhoeverFrees(t *testing.T) {
	memtest.CloseAtFaults(t, func(src page.Source) (*Heap, []func()) {
		h, err := New(src, Config{Reserve: 64 << 10})
		if err == nil {
			err = h.AddPool(src, 64<<10)
		}
		if err != nil {
			t.Fatal(err)
		}
		var use []func()
		for range 2 {
			p := memtest.MustAlloc(t, h, 40_000, 8) // one in each pool
			use = append(use, func() { h.Free(p, 40_000) }, func() { h.FreeAny(p) }, func() { h.SizeOf(p) }, func() { h.Resize(p, 40_000, 1) })
		}
		return h, append(use, func() {
			if _, err := h.Alloc(1, 1); err != memory.ErrClosed {
				t.Errorf("Alloc: %v", err)
			}
		})
	})
}
