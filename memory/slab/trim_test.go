package slab

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
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
	_, err := h.Alloc(64, 16)
	if full := (*memory.Exhausted)(nil); !errors.As(err, &full) || full.Op != "slab: alloc" || full.Need != 64 {
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
	before := h.short.examined
	if _, err := h.Alloc(128, 16); err == nil || h.short.examined > before+1 { // the span at the end
		t.Errorf("a search that found nothing was repeated for %d spans: %v", h.short.examined-before, err)
	}
	for i, p := range blocks {
		if i%2 != 0 {
			h.Free(p, 64)
		}
	}
	memtest.MustAlloc(t, h, 128, 16)
	memtest.MustCheck(t, h)
}

// To look for empty spans costs a step a unit and a free block: it waits until half of what was
// carved is free.
func TestHeap_DoesNotSearchWhereLittleIsFree(t *testing.T) {
	h := newHeap(t, Config{Reserve: 16 << 20})
	var blocks []unsafe.Pointer
	for range 6000 { // above squeezeLimit
		blocks = append(blocks, memtest.MustAlloc(t, h, 1024, 8))
	}
	for _, p := range blocks[:2700] {
		h.Free(p, 1024)
	}
	grown := h.Stats().Committed
	for h.Stats().Committed == grown {
		memtest.MustAlloc(t, h, 64, 8)
	}
	if h.looked != 0 {
		t.Errorf("the heap looked for empty spans after %d frees, where less than half was free", h.looked)
	}
	for _, p := range blocks[2700:] {
		h.Free(p, 1024)
	}
	if fill(t, h, 2048); h.looked == 0 {
		t.Error("the heap did not look for empty spans where most was free")
	}
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
	for _, p := range first[:96] { // 384 units at the front, but for a span that another block is in
		h.Free(p, 4096)
	}
	if err := h.Trim(); err != nil {
		t.Fatal(err)
	}
	vacated := h.vacant
	if vacated < 320 || vacated > 384 {
		t.Fatalf("%d units are vacant", h.vacant)
	}
	memtest.Misuse(t, func() { h.Free(first[0], 4096) }, "not live", "recycled")
	memtest.Misuse(t, func() { h.FreeAny(first[0]) }, "recycled")
	memtest.Misuse(t, func() { h.SizeOf(first[0]) }, "recycled")
	if got := h.Stats().LargestFree; got != 65536 {
		t.Errorf("largest free %d, want 65536", got)
	}
	if wide := fill(t, h, 36<<10); uintptr(len(wide)) != vacated/36 {
		t.Errorf("%d vacant units held %d blocks of 36 KiB", vacated, len(wide))
	}
	memtest.MustCheck(t, h)
}

func TestBooks_TakeWhatTheyAreReckonedWith(t *testing.T) {
	h := newHeap(t, Config{Reserve: 1 << 20})
	memtest.MustAlloc(t, h, 2048, 8)
	units := len(h.place)
	if took := len(h.live)*8 + len(h.owned) + units; invariant.Exact && took != units*mapBytes {
		t.Errorf("%d units take %d bytes of maps; reckoned are %d", units, took, units*mapBytes)
	}
}
