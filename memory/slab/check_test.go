package slab

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/findings"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

func TestCheck_NamesWhatIsCorrupt(t *testing.T) {
	const ci = 3 // blocks of 64 bytes, in unit 0; units 4 to 7 are a block of the class of 4096, 47
	entry := func(h *Heap, i uintptr) *uint32 { return (*uint32)(unsafe.Add(h.classes[ci].stack, i*4)) }
	for _, c := range []struct {
		want    string
		exact   bool // needs the live map
		corrupt func(*Heap)
	}{
		{"not whole units", false, func(h *Heap) { h.limit++ }},
		{"not whole units", false, func(h *Heap) { h.limit = h.mem.Reserved() }},
		{"class 5 of 96 bytes has blocks of 7 granules", false, func(h *Heap) { h.shapes[5].size++ }},
		{"class 5 of 97 bytes has", false, func(h *Heap) { h.ladder.sizes[5]++; h.shapes[5].size++ }},
		{"lookup table are not the ladder's", false, func(h *Heap) { h.tab[2]++ }},
		{"lookup table are not the ladder's", false, func(h *Heap) { h.ladder.tab[2]++ }},
		{"the 255 entries of the lookup table are not the ladder's 256", false, func(h *Heap) { h.rungs-- }},
		{"class 3 has blocks or had some, and is not known", false, func(h *Heap) { h.known[0] &^= 1 << ci }},
		{"class 3 has blocks or had some, and is not known", false, func(h *Heap) { h.known[0] &^= 1 << ci; h.shapes[ci].blocks = 0 }},
		{"class 3 has blocks or had some, and is not known", false, func(h *Heap) { h.known[0] &^= 1 << ci; h.classes[ci].allocs = 0 }},
		{"belongs to class 250", false, func(h *Heap) { h.owned[0] = 250 }},
		{"class 3 has 1 units for 16 blocks, counted are 2 for 16", false, func(h *Heap) { h.shapes[ci].units++ }},
		{"class 3 has 1 units for 16 blocks, counted are 1 for 17", false, func(h *Heap) { h.shapes[ci].blocks++ }},
		{"1 units from unit 0 on, part 1 of a span, are none of class 3", false, func(h *Heap) { h.place[0] = 1 }},
		{"2 units from unit 4 on, part 0 of a span, are none of class 47", false, func(h *Heap) { h.place[6] = vacant }},
		{"4 units from unit 2 on, part 0 of a span, are none of class 47", false, func(h *Heap) {
			copy(h.place[2:], []byte{0, 1, 2, 3})
			copy(h.owned[2:], []byte{47, 47, 47, 47})
		}},
		{"unit 5 of class 3 is part 1 of the span of class 47 at unit 4", false, func(h *Heap) { h.owned[5] = 3 }},
		{"unit 8 behind limit is part 0 of a span of class 255", false, func(h *Heap) { h.place[8] = 0 }},
		{"unit 63 behind limit is part 255 of a span of class 3", false, func(h *Heap) { h.owned[63] = 3 }},
		{"units 1 to 3 are vacant or in empty spans, and a request for 3 units counts as hopeless", false, func(h *Heap) {
			h.short.needs[0], h.short.frees = 3, h.frees()
		}},
		{"3 units are vacant, 4 are counted", false, func(h *Heap) { h.vacant++ }},
		{"unit 1 is vacant below the lowest vacant unit 2", false, func(h *Heap) { h.lowest = 2 }},
		{"8 units below limit none below 9 is vacant", false, func(h *Heap) { h.lowest = 9 }},
		{"not in order", false, func(h *Heap) { h.classes[ci].n = h.classes[ci].carved + 1 }},
		{"not in order", false, func(h *Heap) { h.shapes[ci].capacity = 1 }},
		{"no rest of one", false, func(h *Heap) { h.classes[ci].bump++ }},
		{"no rest of one", false, func(h *Heap) { h.classes[ci].bump = h.classes[ci].end + 4 }},
		{"17 carved and 0 to carve are not the 16 blocks of its spans", false, func(h *Heap) { h.classes[ci].carved++; h.classes[ci].allocs++; h.shapes[ci].capacity++ }},
		{"17 free, 16 carved,", false, func(h *Heap) { h.classes[ci].n, h.classes[ci].allocs = 17, 1<<40 }},
		{"1 free, 16 carved, room for 16, 1 ever handed out are not in order", false, func(h *Heap) { h.classes[ci].n = 1 }},
		{"bytes are carved", false, func(h *Heap) { h.carved++ }},
		{"is no block of the class", false, func(h *Heap) { *entry(h, 0) += 1 }},
		{"is no block of the class", false, func(h *Heap) { *entry(h, 0) = 1 << 30 }},
		{"is no block of the class", false, func(h *Heap) { *entry(h, 0) = h.classes[ci].bump }},
		{"free twice", false, func(h *Heap) { *entry(h, 0) = *entry(h, 1) }},
		{"is two of free, live and lent", true, func(h *Heap) { off := uintptr(*entry(h, 0)); *h.word(off) |= 1 << (off & 63) }},
		{"granule 1 is live or lent, and no block starts there", true, func(h *Heap) { h.live[0] |= 2 }},
		{"15 live, lent and free blocks are not the 16", true, func(h *Heap) { h.live[0] &^= 1 }},
		{"beyond limit, at word 63", true, func(h *Heap) { h.live[len(h.live)-1] = 1 }},
		{"of which 64 units have metadata", true, func(h *Heap) { h.live = h.live[:7] }},
	} {
		if c.exact && !invariant.Exact {
			continue
		}
		h, err := New(nil, Config{Reserve: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		memtest.MustAlloc(t, h, 64, 16)
		memtest.MustAlloc(t, h, 4096, 16)
		memtest.MustCheck(t, h)
		c.corrupt(h)
		if err := h.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Check = %v; want an error with %q", err, c.want)
		}
		if err := h.mem.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// furnished returns a Central and a cache of a heap with blocks in every state: live, free, to
// be carved, cached, used through the cache, in vacant slabs and in spans.
func furnished(t *testing.T, cfg Config) (*Central, *Cache) {
	t.Helper()
	h := newHeap(t, cfg)
	var dead []unsafe.Pointer
	for range 40 {
		dead = append(dead, memtest.MustAlloc(t, h, 4096, 16)) // spans, to be vacant
	}
	for _, size := range []uintptr{1, 64, 100, 1000, 4096, 36 << 10} {
		for i := range 50 {
			if p := memtest.MustAlloc(t, h, min(size, cfg.MaxSize), 16); i%3 == 0 {
				h.FreeAny(p)
			}
		}
	}
	for _, p := range dead {
		h.FreeAny(p)
	}
	if err := h.Trim(); err != nil || h.vacant == 0 {
		t.Fatalf("Trim: %v, %d units are vacant", err, h.vacant)
	}
	central := mustCentral(h)
	c := NewCache(central)
	t.Cleanup(func() { _ = c.Close() })
	for _, size := range []uintptr{64, 200} {
		for i := range 50 {
			if p := memtest.MustAlloc(t, c, size, 16); i%3 == 0 {
				c.Free(p, size)
			}
		}
	}
	memtest.MustAlloc(t, central, 64, 16)
	return central, c
}

func TestCheck_EveryFlippedBitIsNamedOrTolerated(t *testing.T) {
	testenv.Long(t)
	for _, cfg := range []Config{
		{Reserve: 3 << 20, MaxSize: 24 << 10}, // the top class has spans
		{Reserve: 2 << 20, MaxSize: 4096, Classes: PowerOfTwo},
	} {
		if testenv.Brief() && cfg.Classes == PowerOfTwo {
			continue
		}
		central, c := furnished(t, cfg)
		h := central.heap
		books := []any{c}
		for i := range h.ladder.sizes {
			if stack := h.classes[i].free(); len(stack) > 0 {
				books = append(books, &stack)
			}
		}
		for i := range central.lent {
			if n := central.lent[i].Load(); n != nil && invariant.Exact {
				books = append(books, n)
			}
		}
		f := memtest.EveryNthBit(t, testenv.Step(4), func() error { return errors.Join(c.Check(), central.Check()) }, books...)
		if f.Integers < 600 || f.Named*4 < f.Flipped {
			t.Errorf("%v: of %d bits in %d integers %d were named", cfg.Classes, f.Flipped, f.Integers, f.Named)
		}
	}
}

func TestCheck_OfARuinedHeapIsShort(t *testing.T) {
	h, err := New(nil, Config{Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for range 100 {
		memtest.MustAlloc(t, h, 64, 16)
	}
	for i := range h.shapes {
		h.shapes[i].size++
	}
	err = h.Check()
	if n := strings.Count(err.Error(), "\n"); n > findings.Most+1 || !strings.Contains(err.Error(), "errors more") {
		t.Errorf("Check says %d lines: %v", n, err)
	}
}
