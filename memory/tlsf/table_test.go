package tlsf

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// long fills the first pool of h with blocks of a granule.
func long(t *testing.T, h *Heap, blocks int) {
	t.Helper()
	for range blocks {
		memtest.MustAlloc(t, h, h.config.Granule, 16)
	}
}

// The metadata of a heap that has grown is not copied when the heap grows further.
func TestHeap_GrowingCopiesNoMetadata(t *testing.T) {
	if page.OS() == page.Heap() || unsafe.Sizeof(uintptr(0)) < 8 {
		return // tables have no reservations here
	}
	for name, src := range map[string]page.Source{"OS": page.OS(), "limited": page.NewLimit(page.OS(), 64<<20)} {
		h := newHeap(t, src, Config{Reserve: 32 << 20, Step: 64 << 10})
		long(t, h, 20_000)
		blocks, starts := &h.blocks[0], &h.pools[0].starts[0]
		long(t, h, 100_000)
		if &h.blocks[0] != blocks || &h.pools[0].starts[0] != starts {
			t.Errorf("%s: the metadata has moved", name)
		}
		memtest.MustCheck(t, h)
		h.Reset()
		long(t, h, 100_000)
		if &h.blocks[0] != blocks || &h.pools[0].starts[0] != starts {
			t.Errorf("%s: the metadata has moved after Reset", name)
		}
		memtest.MustCheck(t, h)
	}
}

// A pool that is added widens the table, and no later Alloc copies it.
func TestAddPool_WidensTheMetadata(t *testing.T) {
	for _, before := range []int{0, 30_000} {
		h := newHeap(t, page.OS(), Config{Reserve: 8 << 20, Step: 64 << 10})
		long(t, h, before)
		if err := h.AddPool(page.OS(), 16<<20); err != nil {
			t.Fatal(err)
		}
		long(t, h, 32<<10-before+1000)
		blocks := &h.blocks[0]
		long(t, h, 60_000)
		if &h.blocks[0] != blocks && page.OS() != page.Heap() && unsafe.Sizeof(uintptr(0)) == 8 {
			t.Errorf("the metadata has moved, with %d blocks before AddPool", before)
		}
		memtest.MustCheck(t, h)
	}
}

// A closed heap has no table, and its methods read none.
func TestClose_ReleasesTheMetadata(t *testing.T) {
	h := newHeap(t, page.OS(), Config{Reserve: 32 << 20})
	long(t, h, 50_000)
	p := memtest.MustAlloc(t, h, 100, 16)
	before := len(page.AppendMapped(nil))
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if after := len(page.AppendMapped(nil)); page.OS() != page.Heap() && unsafe.Sizeof(uintptr(0)) == 8 && before-after != 3 {
		t.Errorf("%d reservations were released, want those of the pool, the descriptors and the granules", before-after)
	}
	memtest.Misuse(t, func() { h.Free(p, 100) }, "closed")
	memtest.Misuse(t, func() { h.Resize(p, 100, 200) }, "closed")
	h.Young(func(unsafe.Pointer, uintptr) bool { t.Error("Young yields"); return true })
	h.Stats()
	memtest.MustCheck(t, h)
}
