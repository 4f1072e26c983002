package freelist

import (
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
		{"over a live neighbour", 4096, 4096, 16 << 10, false, "aaaa|aaaa|........|"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHeap(t, nil, tiny(FirstFit))
			p := memtest.MustAlloc(t, h, tt.from, 1)
			if tt.other > 0 {
				memtest.MustAlloc(t, h, tt.other, 1)
			}
			ok := h.Resize(p, tt.from, tt.to)
			memtest.MustCheck(t, h)
			if got := layout(h); ok != tt.ok || got != tt.want {
				t.Errorf("Resize = %t, %s; want %t, %s", ok, got, tt.ok, tt.want)
			}
			if ok {
				tt.from = tt.to
			}
			if h.SizeOf(p) != tt.from {
				t.Errorf("SizeOf = %d, want %d", h.SizeOf(p), tt.from)
			}
			h.Free(p, tt.from)
		})
	}
}

func TestResize_FillsAHoleExactly(t *testing.T) {
	h := holes(t, FirstFit)
	p := h.base
	if q := memtest.MustAlloc(t, h, 1024, 1); q != p {
		t.Fatalf("%p, want the first granule %p", q, p)
	}
	if h.Resize(p, 1024, 3073) {
		t.Error("grew over a live block")
	}
	if !h.Resize(p, 1024, 3072) || layout(h) != "aaa|a|..|a|....|a|aaa|a|" {
		t.Error(layout(h))
	}
}

func TestResize_CommitsTheTail(t *testing.T) {
	h := newHeap(t, page.NewLimit(nil, 512<<10), Config{Reserve: 1 << 20})
	p := memtest.MustAlloc(t, h, 256<<10, 1) // to the end of what is committed
	if !h.Resize(p, 256<<10, 300<<10) || !h.Resize(p, 300<<10, 400<<10) {
		t.Error("the tail was not committed")
	}
	before := h.Stats()
	if h.Resize(p, 400<<10, 600<<10) || h.Stats() != before {
		t.Error("grew beyond the budget, or a refusal changed the books")
	}
	memtest.MustCheck(t, h)
	if s := h.Stats(); s.Requested != 400<<10 || s.Peak != 400<<10 || s.Live != 1 {
		t.Errorf("%+v", s)
	}
}

func TestResize_JustBehindTheHeapIsMisuse(t *testing.T) {
	h := newHeap(t, nil, tiny(FirstFit))
	end := unsafe.Add(h.base, h.mem.Reserved())
	for _, f := range []func(){
		func() { h.Resize(end, 1024, 2048) }, func() { h.Free(end, 1024) }, func() { h.FreeAny(end) }, func() { h.SizeOf(end) },
	} {
		memtest.Misuse(t, f, "the address does not lie in this heap")
	}
	memtest.MustCheck(t, h)
}

// The function of a budget's soft limit is called during the Resize that commits.
func TestResize_WhatTheSoftMarkFreesOrResizesIsNotResized(t *testing.T) {
	for name, relieve := range map[string]func(h *Heap, p unsafe.Pointer){
		"itself":          func(h *Heap, p unsafe.Pointer) { h.Free(p, 10_000) },
		"all":             func(h *Heap, _ unsafe.Pointer) { h.Reset() },
		"a byte less":     func(h *Heap, p unsafe.Pointer) { h.Resize(p, 10_000, 9_999) }, // in the same granules
		"a half":          func(h *Heap, p unsafe.Pointer) { h.Resize(p, 10_000, 5_000) },
		"freed and taken": func(h *Heap, p unsafe.Pointer) { h.Free(p, 10_000); memtest.MustAlloc(t, h, 9_999, 8) },
	} {
		limit := page.NewLimit(nil, 0)
		h := newHeap(t, limit, Config{Reserve: 1 << 20})
		p := memtest.MustAlloc(t, h, 10_000, 8)
		told := false
		limit.OnSoft(limit.Committed(), func(uintptr, uintptr) { told = true; relieve(h, p) })
		if h.Resize(p, 10_000, 300_000) || !told {
			t.Errorf("%s: a block that is no longer there was resized, or the mark was not told (%t)", name, told)
		}
		memtest.MustCheck(t, h)
	}
}
