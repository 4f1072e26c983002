package tlsf

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

func TestResize_InPlace(t *testing.T) {
	for _, tt := range []struct {
		name     string
		other    uintptr // size of a second block behind the first; 0: none
		from, to uintptr
		ok       bool
		want     string
	}{
		{"shrinks and frees the rest", 4096, 4096, 1024, true, "a|...|aaaa|........|"},
		{"shrinks into the free neighbour", 0, 4096, 1024, true, "a|...............|"},
		{"shrinks to nothing", 4096, 4096, 0, true, "a|...|aaaa|........|"},
		{"within its granules", 4096, 4000, 4096, true, "aaaa|aaaa|........|"},
		{"grows into the free tail", 0, 4096, 8192, true, "aaaaaaaa|........|"},
		{"grows to the last granule", 0, 4096, 16 << 10, true, "aaaaaaaaaaaaaaaa|"},
		{"grows from nothing", 0, 0, 1025, true, "aa|..............|"},
		{"beyond the reservation", 0, 4096, 16<<10 + 1, false, "aaaa|............|"},
		{"against a live neighbour", 4096, 4096, 4097, false, "aaaa|aaaa|........|"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHeap(t, nil, tiny)
			p := memtest.MustAlloc(t, h, tt.from, 1)
			if tt.other > 0 {
				memtest.MustAlloc(t, h, tt.other, 1)
			}
			ok := h.Resize(p, tt.from, tt.to)
			memtest.MustCheck(t, h)
			if got := layout(h); ok != tt.ok || got != tt.want {
				t.Errorf("Resize = %t, %s; want %t, %s", ok, got, tt.ok, tt.want)
			}
			size := tt.from
			if ok {
				size = tt.to
			}
			if h.SizeOf(p) != size {
				t.Errorf("SizeOf = %d, want %d", h.SizeOf(p), size)
			}
			h.Free(p, size)
		})
	}
}

func TestResize_FillsAHoleExactly(t *testing.T) {
	h := newHeap(t, nil, tiny)
	p, q := memtest.MustAlloc(t, h, 2048, 1), memtest.MustAlloc(t, h, 2048, 1)
	memtest.MustAlloc(t, h, 1024, 1)
	h.Free(q, 2048)
	if h.Resize(p, 2048, 4097) {
		t.Error("grew over a live block")
	}
	if !h.Resize(p, 2048, 4096) || layout(h) != "aaaa|a|...........|" {
		t.Error(layout(h))
	}
}

func TestResize_CommitsTheTail(t *testing.T) {
	h := newHeap(t, page.NewLimit(nil, 512<<10), Config{Reserve: 1 << 20, Step: 64 << 10})
	p := memtest.MustAlloc(t, h, 64<<10, 1) // to the end of what is committed
	if !h.Resize(p, 64<<10, 100<<10) || !h.Resize(p, 100<<10, 300<<10) {
		t.Error("the tail was not committed")
	}
	before := h.Stats()
	if h.Resize(p, 300<<10, 600<<10) || h.Stats() != before {
		t.Error("grew beyond the budget, or a refusal changed the books")
	}
	memtest.MustCheck(t, h)
	if s := h.Stats(); s.Requested != 300<<10 || s.Peak != 300<<10 || s.Live != 1 {
		t.Errorf("%+v", s)
	}
}

// A budget's soft mark is told in the midst of the Resize that commits.
func TestResize_WhatTheSoftMarkFreesIsNotResized(t *testing.T) {
	for name, c := range map[string]struct {
		relieve func(h *Heap, p unsafe.Pointer)
		want    bool
	}{
		"nothing": {func(*Heap, unsafe.Pointer) {}, true},
		"itself":  {func(h *Heap, p unsafe.Pointer) { h.Free(p, 10_000) }, false},
		"all":     {func(h *Heap, _ unsafe.Pointer) { h.Reset() }, false},
		"a half":  {func(h *Heap, p unsafe.Pointer) { h.Resize(p, 10_000, 5_000) }, false}, // it is a block of another size now
		"a byte":  {func(h *Heap, p unsafe.Pointer) { h.Resize(p, 10_000, 9_999) }, false},
		"closed":  {func(h *Heap, _ unsafe.Pointer) { _ = h.Close() }, false},
	} {
		limit := page.NewLimit(nil, 0)
		h, err := New(limit, Config{Step: 64 << 10})
		if err != nil {
			t.Fatal(err)
		}
		p, err := h.Alloc(10_000, 8)
		if err != nil {
			t.Fatal(err)
		}
		limit.OnSoft(100<<10, func(uintptr, uintptr) { c.relieve(h, p) })
		if got := h.Resize(p, 10_000, 300_000); got != c.want {
			t.Errorf("%s: Resize = %t", name, got)
		}
		if h.closed && h.fastSize != 0 {
			t.Errorf("%s: requests up to %d bytes take the fast path of a closed heap", name, h.fastSize)
		}
		if err := errors.Join(h.Check(), h.Close()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
