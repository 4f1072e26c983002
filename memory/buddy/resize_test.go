package buddy

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

func TestResize_ClimbsAndDescendsTheLadderInPlace(t *testing.T) {
	type step struct {
		to   uintptr
		ok   bool
		want string
	}
	for _, tt := range []struct {
		system System
		size   uintptr
		steps  []step
	}{
		{Binary, 1000, []step{
			{1024, true, "a|.|..|....|........|"},
			{1025, true, "aa|..|....|........|"},
			{0, true, "a|.|..|....|........|"},
			{5000, true, "aaaaaaaa|........|"},
			{16 << 10, true, "aaaaaaaaaaaaaaaa|"},
			{16<<10 + 1, false, "aaaaaaaaaaaaaaaa|"},
			{3 << 10, true, "aaaa|....|........|"},
			{2 << 10, true, "aa|..|....|........|"},
			{1, true, "a|.|..|....|........|"},
		}},
		{Fibonacci, 1000, []step{ // it is the right part of its parent
			{1025, false, "........|...|.|a|"},
			{1, true, "........|...|.|a|"},
		}},
		{Fibonacci, 13 << 10, []step{
			{8 << 10, true, "aaaaaaaa|.....|"},
			{8<<10 + 1, true, "aaaaaaaaaaaaa|"},
			{3 << 10, true, "aaa|..|...|.....|"},
			{3<<10 + 1, true, "aaaaa|...|.....|"},
			{1, true, "a|.|.|..|...|.....|"},
			{13 << 10, true, "aaaaaaaaaaaaa|"},
		}},
	} {
		h := newHeap(t, nil, tiny(tt.system))
		h.FreeAny(memtest.MustAlloc(t, h, h.limit, 1)) // so that all is committed and whole
		p, size := memtest.MustAlloc(t, h, tt.size, 1), tt.size
		for _, s := range tt.steps {
			if got := h.Resize(p, size, s.to); got != s.ok || layout(h) != s.want {
				t.Fatalf("%v: from %d to %d: %t, %s; want %t, %s", tt.system, size, s.to, got, layout(h), s.ok, s.want)
			}
			if s.ok {
				size = s.to
			}
			if h.SizeOf(p) != size || h.Stats().Requested != uint64(size) {
				t.Errorf("%d bytes, %+v, want %d", h.SizeOf(p), h.Stats(), size)
			}
			memtest.MustCheck(t, h)
		}
		h.Free(p, size)
		memtest.MustCheck(t, h)
	}
}

func TestResize_StopsAtALiveBuddyAndOnTheRight(t *testing.T) {
	h := newHeap(t, nil, tiny(Binary))
	h.FreeAny(memtest.MustAlloc(t, h, h.limit, 1))
	p, q := memtest.MustAlloc(t, h, 1024, 1), memtest.MustAlloc(t, h, 1024, 1)
	r := memtest.MustAlloc(t, h, 2048, 1)
	before := h.Stats()
	if layout(h) != "a|a|aa|....|........|" {
		t.Fatal(layout(h))
	}
	for _, b := range []struct {
		p        unsafe.Pointer
		from, to uintptr
	}{{p, 1024, 1025}, {q, 1024, 1025}, {r, 2048, 2049}, {p, 1024, ^uintptr(0)}} {
		if h.Resize(b.p, b.from, b.to) || h.Stats() != before || layout(h) != "a|a|aa|....|........|" {
			t.Errorf("from %d to %d: %s, %+v, was %+v", b.from, b.to, layout(h), h.Stats(), before)
		}
	}
	h.Free(q, 1024)
	if h.Resize(p, 1024, 2049) || layout(h) != "a|.|aa|....|........|" { // the next buddy is live
		t.Error(layout(h))
	}
	if !h.Resize(p, 1024, 2048) || layout(h) != "aa|aa|....|........|" {
		t.Error(layout(h))
	}
	memtest.Misuse(t, func() { h.Resize(p, 1024, 10) }, "buddy.Resize", "wrong size: the block was requested with 2048 bytes, not 1024")
	memtest.Misuse(t, func() { h.Resize(q, 1024, 10) }, "buddy.Resize", "interior pointer")
	h.Free(r, 2048)
	memtest.Misuse(t, func() { h.Resize(r, 2048, 10) }, "buddy.Resize", "double free")
	memtest.MustCheck(t, h)
}

// Fibonacci: what was allocated with a wide alignment lies behind padding, and keeps it.
func TestResize_KeepsThePaddingInFront(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 144 << 10, MinBlock: 1 << 10, System: Fibonacci})
	h.FreeAny(memtest.MustAlloc(t, h, h.limit, 1))
	memtest.MustAlloc(t, h, 1024, 1)
	memtest.MustAlloc(t, h, 1024, 1)
	padded := 0
	for range 12 {
		p := memtest.MustAlloc(t, h, 1500, 4096)
		at := h.grain.Index(h.base, p)
		if h.entries[at].prev > 0 {
			padded++
		}
		size := uintptr(1500)
		for _, to := range []uintptr{3000, 100, 20_000, 5000, 0, 1500} {
			if h.Resize(p, size, to) {
				size = to
			}
			memtest.MustCheck(t, h)
		}
		if h.SizeOf(p) != size || size > 1500 {
			t.Errorf("%d bytes, want %d", h.SizeOf(p), size)
		}
	}
	if padded == 0 {
		t.Error("no block was padded")
	}
}

func TestResize_CommitsNothing(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 1 << 20})
	p := memtest.MustAlloc(t, h, 100, 1)
	committed := h.Stats().Committed
	if !h.Resize(p, 100, uintptr(committed)) || h.Resize(p, uintptr(committed), uintptr(committed)+1) || h.Stats().Committed != committed {
		t.Errorf("%+v, %d were committed", h.Stats(), committed)
	}
	if committed%uint64(page.Granule) != 0 {
		t.Errorf("%d bytes", committed)
	}
}

func TestResize_AWriteToTheFreeBuddyIsFoundAndTheNextTrySucceeds(t *testing.T) {
	if !invariant.Debug {
		return // nothing is poisoned
	}
	h := newHeap(t, nil, tiny(Binary))
	p := memtest.MustAlloc(t, h, 1024, 1)
	*(*byte)(unsafe.Add(p, 3000)) = 1
	before := h.Stats()
	memtest.Misuse(t, func() { h.Resize(p, 1024, 4096) }, "buddy.Resize", "use after free or overflow: byte 952 of the free block of 2048 bytes was written, with 0x1")
	if h.Stats() != before {
		t.Errorf("%+v, was %+v", h.Stats(), before)
	}
	memtest.MustCheck(t, h)
	if !h.Resize(p, 1024, 4096) {
		t.Error("the next try fails")
	}
}
