package slab

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

func TestHeap_StealsEmptySlabsOfOtherClasses(t *testing.T) {
	h := newHeap(t, Config{Reserve: 256 << 10})
	blocks := fill(t, h, 64)
	for _, p := range blocks {
		h.Free(p, 64)
	}
	if n := len(fill(t, h, 2048)); n != 128 {
		t.Errorf("after everything of another class was freed: %d blocks of 2 KiB, want 128", n)
	}
	memtest.MustCheck(t, h)
	if _, err := h.Alloc(64, 16); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("the class that lost its slabs: %v", err)
	}
}

func TestHeap_StealsUnderABudget(t *testing.T) {
	limit := page.NewLimit(nil, 128<<10)
	h, err := New(limit, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for _, p := range fill(t, h, 16) {
		h.Free(p, 16)
	}
	if n := len(fill(t, h, 4096)); n != 32 {
		t.Errorf("a budget of 128 KiB held %d blocks of 4 KiB, want 32", n)
	}
	if limit.Committed() != 128<<10 {
		t.Errorf("%d bytes committed", limit.Committed())
	}
}

func TestHeap_DoesNotSearchTwiceForNothing(t *testing.T) {
	h := newHeap(t, Config{Reserve: 128 << 10})
	blocks := fill(t, h, 64)
	for i, p := range blocks {
		if i%2 == 0 {
			h.Free(p, 64)
		}
	}
	if _, err := h.Alloc(128, 16); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Fatal(err)
	}
	if h.futile != h.frees() {
		t.Error("a search that found nothing was not remembered")
	}
	for i, p := range blocks {
		if i%2 != 0 {
			h.Free(p, 64)
		}
	}
	memtest.MustAlloc(t, h, 128, 16)
	memtest.MustCheck(t, h)
}

func TestTrim_RecyclesEmptySlabsAndKeepsLiveBlocks(t *testing.T) {
	h := newHeap(t, Config{Reserve: 4 << 20, MaxSize: 65536})
	var live []unsafe.Pointer
	for range 3 {
		memtest.MustAlloc(t, h, 100, 16)
		for _, size := range []uintptr{36 << 10, 64, 4096} {
			for i := range 40 {
				p := memtest.MustAlloc(t, h, size, 16)
				if i == 7 && size == 64 {
					live = append(live, p)
					*(*uint64)(p) = 0xFEED
					continue
				}
				defer func() { _ = p }()
				h.FreeAny(p)
			}
		}
	}
	before := h.Stats()
	if err := h.Trim(); err != nil {
		t.Fatal(err)
	}
	memtest.MustCheck(t, h)
	after := h.Stats()
	if after.Live != before.Live || after.InUse != before.InUse || after.Frees != before.Frees || after.Peak < before.Peak {
		t.Errorf("Trim changed the books: %+v, were %+v", after, before)
	}
	if after.Committed >= before.Committed {
		t.Errorf("Trim left %d bytes committed of %d", after.Committed, before.Committed)
	}
	for _, p := range live {
		if *(*uint64)(p) != 0xFEED {
			t.Errorf("block %p lost its content", p)
		}
		h.Free(p, 64)
	}
	h.Reset()
	if err := h.Trim(); err != nil || h.Stats().Committed != 0 {
		t.Errorf("Trim of an empty heap: %v, %d bytes committed", err, h.Stats().Committed)
	}
}

func TestTrim_HolesServeOtherClasses(t *testing.T) {
	h := newHeap(t, Config{Reserve: 1 << 20, MaxSize: 65536})
	first := fill(t, h, 4096)
	if len(first) != 256 {
		t.Fatalf("%d blocks of 4 KiB in 1 MiB", len(first))
	}
	for _, p := range first[:96] { // six slabs at the front
		h.Free(p, 4096)
	}
	if err := h.Trim(); err != nil {
		t.Fatal(err)
	}
	if h.vacant != 6 {
		t.Fatalf("%d slabs are vacant, want 6", h.vacant)
	}
	memtest.Misuse(t, func() { h.Free(first[0], 4096) }, "not live", "recycled")
	memtest.Misuse(t, func() { h.FreeAny(first[0]) }, "recycled")
	memtest.Misuse(t, func() { h.SizeOf(first[0]) }, "recycled")
	if got := h.Stats().LargestFree; got != 65536 {
		t.Errorf("largest free %d, want 65536", got)
	}
	wide := fill(t, h, 36<<10) // three slabs to a span, five blocks in it
	if len(wide) != 10 {
		t.Errorf("six vacant slabs held %d blocks of 36 KiB, want 10", len(wide))
	}
	memtest.MustCheck(t, h)
}
