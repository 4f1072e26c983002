package slab_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tlsf"
)

// offsets returns where blocks lie from base.
func offsets(base unsafe.Pointer, blocks []unsafe.Pointer) (offs []uintptr) {
	for _, p := range blocks {
		offs = append(offs, uintptr(p)-uintptr(base))
	}
	return offs
}

func TestHeap_FreeRunFreesWhatFreeAnyWould(t *testing.T) {
	h, err := slab.New(nil, slab.Config{Reserve: 8 << 20, MaxSize: 32 << 10})
	memtest.Opened(t, h, err)
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 40 {
		var blocks []unsafe.Pointer
		for range 1 + rng.IntN(200) {
			blocks = append(blocks, memtest.MustAlloc(t, h, uintptr(rng.IntN(3)*100*rng.IntN(50)), 16))
		}
		if round%2 == 0 {
			rng.Shuffle(len(blocks), func(i, j int) { blocks[i], blocks[j] = blocks[j], blocks[i] })
		}
		base := blocks[rng.IntN(len(blocks))] // offsets may be negative, or addresses
		if round%3 == 0 {
			base = nil
		}
		if n := h.FreeRun(base, offsets(base, blocks)); n != len(blocks) || h.Stats().Live != 0 || h.Stats().InUse != 0 {
			t.Fatalf("%d of %d freed: %+v", n, len(blocks), h.Stats())
		}
		memtest.MustCheck(t, h)
	}
	if h.FreeRun(nil, nil) != 0 {
		t.Error("a run of none")
	}
}

func TestHeap_FreeRunEndsInFrontOfWhatIsNoBlock(t *testing.T) {
	foreign := make([]uint64, 8)
	for _, name := range []string{"foreign", "inside a granule", "interior", "dead", "twice", "beyond"} {
		if !invariant.Exact && (name == "interior" || name == "dead" || name == "twice") {
			continue // memfast builds do not tell
		}
		for front := range 3 {
			h, err := slab.New(nil, slab.Config{Reserve: 1 << 20})
			memtest.Opened(t, h, err)
			p, r := memtest.MustAlloc(t, h, 64, 16), memtest.MustAlloc(t, h, 900, 16)
			good := []unsafe.Pointer{memtest.MustAlloc(t, h, 64, 16), memtest.MustAlloc(t, h, 900, 16), memtest.MustAlloc(t, h, 64, 16)}
			dead := memtest.MustAlloc(t, h, 64, 16)
			h.Free(dead, 64)
			bad := map[string]unsafe.Pointer{
				"foreign": unsafe.Pointer(&foreign[1]), "inside a granule": unsafe.Add(r, 8), "interior": unsafe.Add(r, 16),
				"dead": dead, "twice": good[0], "beyond": unsafe.Add(r, 512<<10),
			}[name]
			if name == "twice" && front == 0 {
				continue
			}
			blocks := append(slices.Clone(good[:front]), bad, p)
			if n := h.FreeRun(nil, offsets(nil, blocks)); n != front || h.Stats().Live != uint64(5-front) {
				t.Errorf("%s: %d freed of a run that is bad at %d; %d live", name, n, front, h.Stats().Live)
			}
			memtest.Misuse(t, func() { h.FreeAny(bad) }, "slab.FreeAny")
			memtest.MustCheck(t, h)
		}
	}
	h, err := slab.New(nil, slab.Config{Reserve: 1 << 20})
	memtest.Opened(t, h, err)
	p := memtest.MustAlloc(t, h, 64, 16)
	_ = h.Close()
	if n := h.FreeRun(nil, offsets(nil, []unsafe.Pointer{p})); n != 0 {
		t.Errorf("%d freed by a closed heap", n)
	}
}

// Blocks above MaxSize are Large's: FreeRun leaves them to FreeAny.
func TestHeap_FreeRunLeavesLargeBlocksToFreeAny(t *testing.T) {
	large, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	memtest.Opened(t, large, err)
	h, err := slab.New(nil, slab.Config{Reserve: 1 << 20, Large: large})
	memtest.Opened(t, h, err)
	p, q := memtest.MustAlloc(t, h, 64, 16), memtest.MustAlloc(t, h, 10_000, 16)
	if n := h.FreeRun(nil, offsets(nil, []unsafe.Pointer{p, q})); n != 1 || large.Stats().Live != 1 {
		t.Errorf("%d freed, %d large ones live", n, large.Stats().Live)
	}
	h.FreeAny(q)
}
