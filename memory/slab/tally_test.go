package slab

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// A heap that grows between sweeps makes few tallies for them: each reaches as far ahead as the maps.
func TestHeap_SweepsOfAGrowingHeapMakeFewTallies(t *testing.T) {
	if invariant.Debug {
		return // it fills every block
	}
	h := newHeap(t, Config{Reserve: 128 << 20})
	made, had := 0, 0
	for range 60 {
		for range 1 << 10 {
			memtest.MustAlloc(t, h, 1024, 16)
		}
		var blocks []unsafe.Pointer
		for range 64 {
			blocks = append(blocks, memtest.MustAlloc(t, h, 2048, 16))
		}
		for _, p := range blocks {
			h.Free(p, 2048)
		}
		for h.Sweep(64) {
		}
		if n := len(h.sweep.tally); n != had {
			made, had = made+1, n
		}
	}
	if h.limit/unitGranules <= smallTally || made > 10 {
		t.Errorf("%d tallies for %d units", made, h.limit/unitGranules)
	}
}

// To look for empty spans takes no memory of the Go heap, because Go ends the process if it has none.
func TestHeap_RefusalTakesNoMemoryForMetadata(t *testing.T) {
	for _, reserve := range []uintptr{1 << 20, 62 << 20, 66 << 20, 120 << 20} {
		if invariant.Debug && reserve > 1<<20 {
			continue // they fill every block
		}
		limit := page.NewLimit(page.Default(), reserve/2)
		h, err := New(limit, Config{Reserve: reserve})
		if err != nil {
			t.Fatal(err)
		}
		blocks := fill(t, h, 64)
		if large := reserve/2>>unitShift > smallTally; large != (uintptr(len(h.tally.of)) > smallTally) {
			t.Errorf("%d reserved: the tally counts %d units before memory is short", reserve, len(h.tally.of))
		}
		for k, p := range blocks {
			if k%8 != 0 {
				h.Free(p, 64) // so that there is something to count
			}
		}
		refuse := func() (bytes uint64) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := h.Alloc(4096, 16); err == nil {
				t.Fatal("the heap is not full")
			}
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		if first, second := refuse(), refuse(); first > second+smallTally*2+8192 {
			t.Errorf("%d reserved: the first refusal took %d bytes of the Go heap, the second %d", reserve, first, second)
		}
		memtest.MustCheck(t, h)
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
