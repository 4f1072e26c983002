package buddy

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

var systems = []System{Binary, Fibonacci}

func newHeap(t testing.TB, src page.Source, cfg Config) *Heap {
	t.Helper()
	h, err := New(src, cfg)
	return memtest.Opened(t, h, err)
}

// layout draws the committed blocks, a letter per unit: a live, . free; | ends a block.
func layout(h *Heap) string {
	var s strings.Builder
	for off := uint32(0); off < h.committed(); {
		p := h.blockAt(off)
		letter := map[bool]string{true: ".", false: "a"}[h.startsAt(p, free)]
		s.WriteString(strings.Repeat(letter, int(h.ladder.size[p.rung])) + "|")
		off += h.ladder.size[p.rung]
	}
	return s.String()
}

// tiny is a heap of 16 or 13 units of 1 KiB.
func tiny(s System) Config { return Config{Reserve: 13 << 10, MinBlock: 1 << 10, System: s} }

func TestHeap_SplitsAndMergesUpTheLadder(t *testing.T) {
	for _, tt := range []struct {
		system System
		steps  []string // after allocating 1, 3, 2 KiB, then freeing them in this order
	}{
		{Binary, []string{
			"a|.|..|....|........|",
			"a|.|..|aaaa|........|",
			"a|.|aa|aaaa|........|",
			"..|aa|aaaa|........|",
			"..|aa|....|........|",
			"................|",
		}},
		{Fibonacci, []string{
			"........|...|.|a|",
			"........|aaa|.|a|",
			".....|aa|.|aaa|.|a|",
			".....|aa|.|aaa|..|",
			".....|aa|.|.....|",
			".............|",
		}},
	} {
		h := newHeap(t, nil, tiny(tt.system))
		h.FreeAny(memtest.MustAlloc(t, h, h.limit, 1)) // so that all is committed and whole
		var p []unsafe.Pointer
		for i, want := range tt.steps {
			if i < 3 {
				p = append(p, memtest.MustAlloc(t, h, [...]uintptr{1, 3, 2}[i]<<10, 1))
			} else {
				h.FreeAny(p[i-3])
			}
			memtest.MustCheck(t, h)
			if got := layout(h); got != want {
				t.Errorf("%v, step %d: %s, want %s", tt.system, i, got, want)
			}
		}
	}
}

func TestHeap_FillsToTheLastUnit(t *testing.T) {
	for _, system := range systems {
		h := newHeap(t, nil, tiny(system))
		for h.counts.Used() < uint64(h.ladder.root()) {
			memtest.MustAlloc(t, h, 1024, 1)
			memtest.MustCheck(t, h)
		}
		_, err := h.Alloc(1, 1)
		var full *memory.Exhausted
		if !errors.As(err, &full) || full.Need != 1 || full.Have != 0 || full.Cause != nil {
			t.Errorf("%v: one unit more: %v", system, err)
		}
		h.Reset()
		memtest.MustAlloc(t, h, h.limit, 4096)
	}
}

func TestBinary_BlocksAreAlignedToTheirSize(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 1 << 20})
	for size := uintptr(256); size <= 64<<10; size *= 2 {
		memtest.MustAlloc(t, h, 1, 1)
		if p := memtest.MustAlloc(t, h, size, 1); uintptr(p)%size != 0 {
			t.Errorf("a block of %d bytes at %p", size, p)
		}
	}
}

func TestBinary_AlignmentWastesNothing(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 64 << 10})
	for range 16 {
		if p := memtest.MustAlloc(t, h, 100, 4096); uintptr(p)%4096 != 0 {
			t.Errorf("%p", p)
		}
	}
	if s := h.Stats(); s.InUse != 16*256 {
		t.Errorf("%d bytes in use for 16 blocks of 256", s.InUse)
	}
	if _, err := h.Alloc(1, 4096); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("a 17th multiple of 4096 within 64 KiB: %v", err)
	}
}

func TestFibonacci_AlignmentMayPad(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 55 << 10, MinBlock: 1 << 10, System: Fibonacci})
	var all []unsafe.Pointer
	padded := 0
	for {
		p, err := h.Alloc(2000, 4096)
		if err != nil {
			break
		}
		if uintptr(p)%4096 != 0 {
			t.Errorf("%p", p)
		}
		all = append(all, p)
		at := uint32(h.grain.Index(h.base, p))
		b := h.blockAt(at)
		pad := h.grain.Bytes(at - b.off)
		if pad == 0 {
			continue
		}
		padded++
		memtest.Misuse(t, func() { h.FreeAny(unsafe.Add(p, -int(pad))) }, "in the padding of the block of 2000 bytes at 0x")
		memtest.Misuse(t, func() { h.Free(p, 1999) }, "requested with 2000 bytes, not 1999")
		h.Free(p, 2000)
		memtest.Misuse(t, func() { h.Free(p, 2000) }, "double free")
		if q := memtest.MustAlloc(t, h, 2000, 4096); q != p {
			t.Errorf("%p, was %p", q, p)
		}
	}
	memtest.MustCheck(t, h)
	if len(all) < 8 || padded == 0 {
		t.Errorf("%d blocks of 2000 bytes at multiples of 4096 in 55 KiB, %d padded", len(all), padded)
	}
	for _, p := range all {
		h.Free(p, 2000)
	}
	if got := layout(h); got != strings.Repeat(".", 55)+"|" {
		t.Error(got)
	}
}

func TestHeap_LargestFreeCanBeAllocated(t *testing.T) {
	for _, system := range systems {
		h := newHeap(t, nil, tiny(system))
		h.FreeAny(memtest.MustAlloc(t, h, h.limit, 1))
		for range 4 {
			memtest.MustAlloc(t, h, 1024, 1)
			most := h.Stats().LargestFree
			if _, err := h.Alloc(uintptr(most)+1, 1); err == nil {
				t.Fatalf("%v: %d bytes fit where %d are the most", system, most+1, most)
			}
			h.FreeAny(memtest.MustAlloc(t, h, uintptr(most), 1))
		}
	}
}

func TestHeap_CommitsNoMoreThanABlockNeeds(t *testing.T) {
	for _, system := range systems {
		h := newHeap(t, nil, Config{System: system})
		if s := h.Stats(); s.Committed != 0 || s.LargestFree != 0 {
			t.Errorf("%v, fresh: %+v", system, s)
		}
		memtest.MustAlloc(t, h, 1, 1)
		if s := h.Stats(); s.Committed != page.Granule || s.InUse != 256 || s.Requested != 1 {
			t.Errorf("%v, after one byte: %+v", system, s)
		}
		memtest.MustAlloc(t, h, 1<<20, 1)
		if s := h.Stats(); s.Committed > 4<<20 {
			t.Errorf("%v: %d bytes committed for a block of 1 MiB", system, s.Committed)
		}
	}
}

func TestHeap_ReserveIsRoundedUpToARung(t *testing.T) {
	for _, tt := range []struct {
		system System
		want   uint64
	}{{Binary, 128 << 10}, {Fibonacci, 89 << 10}} {
		h := newHeap(t, nil, Config{Reserve: 65 << 10, MinBlock: 1 << 10, System: tt.system})
		if got := uint64(h.limit); got != tt.want || h.Stats().Reserved < got {
			t.Errorf("%v: requests up to %d, want %d", tt.system, got, tt.want)
		}
		if _, err := h.Alloc(h.limit+1, 1); err != memory.ErrTooLarge {
			t.Errorf("%v: more than the root: %v", tt.system, err)
		}
	}
}

func TestHeap_MisuseIsNamedAndChangesNothing(t *testing.T) {
	for _, system := range systems {
		h, other := newHeap(t, nil, Config{System: system}), newHeap(t, nil, Config{})
		p, q := memtest.MustAlloc(t, h, 3000, 1), memtest.MustAlloc(t, h, 10, 1)
		foreign := memtest.MustAlloc(t, other, 3000, 1)
		h.Free(q, 10)
		before := h.Stats()
		cut := uintptr(1) << 31 // 32 bits of an entry lose it if a size has 64
		if wide {
			cut *= 2
		}
		for _, m := range []struct {
			call func()
			want []string
		}{
			{func() { h.Free(q, 10) }, []string{"buddy.Free(", "size 10", "double free"}},
			{func() { h.FreeAny(q) }, []string{"buddy.FreeAny", "double free"}},
			{func() { h.SizeOf(q) }, []string{"buddy.SizeOf", "double free or stale"}},
			{func() { h.Free(p, 2999) }, []string{"wrong size: the block was requested with 3000 bytes, not 2999"}},
			{func() { h.Free(p, 3000+cut) }, []string{"buddy.Free"}},
			{func() { h.Free(unsafe.Add(p, 1024), 3000) }, []string{"interior pointer: it lies 1024 bytes into the block of 3000 bytes"}},
			{func() { h.FreeAny(unsafe.Add(p, 1)) }, []string{"interior pointer: it lies 1 bytes into"}},
			{func() { h.Free(foreign, 3000) }, []string{"does not lie in this heap"}},
			{func() { h.SizeOf(nil) }, []string{"does not lie in this heap"}},
			{func() { h.FreeAny(unsafe.Add(h.base, 32<<20)) }, []string{"beyond the committed memory"}},
		} {
			memtest.Misuse(t, m.call, m.want...)
		}
		if after := h.Stats(); after != before {
			t.Errorf("misuse changed the entries from %+v to %+v", before, after)
		}
		memtest.MustCheck(t, h)
		h.Free(p, 3000)
	}
}
