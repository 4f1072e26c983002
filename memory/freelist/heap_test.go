package freelist

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

var policies = []Policy{FirstFit, NextFit, BestFit, WorstFit}

func newHeap(t testing.TB, src page.Source, cfg Config) *Heap {
	t.Helper()
	h, err := New(src, cfg)
	return memtest.Opened(t, h, err)
}

// layout draws the heap, a letter per granule: a live, . free; | ends a block or run.
func layout(h *Heap) string {
	var s strings.Builder
	runs := h.runs
	for off := uint32(0); off < h.committed(); {
		letter, n := "?", uint32(1)
		if len(runs) > 0 && runs[0].off == off {
			letter, n, runs = ".", runs[0].size, runs[1:]
		} else if h.live[off] != 0 {
			letter, n = "a", h.grain.Count(uintptr(h.live[off]-1))
		}
		s.WriteString(strings.Repeat(letter, int(n)) + "|")
		off += n
	}
	return s.String()
}

// tiny is a heap of 16 granules of 1 KiB.
func tiny(p Policy) Config {
	return Config{Reserve: page.Granule, Granule: 1 << 10, Policy: p}
}

// holes returns a tiny heap with free runs of 3, 2 and 4 granules, in this order, and a
// search by NextFit that starts behind the first.
func holes(t *testing.T, p Policy) *Heap {
	h := newHeap(t, nil, tiny(p))
	var b []unsafe.Pointer
	for _, kib := range []uintptr{3, 1, 2, 1, 4, 1, 3, 1} {
		b = append(b, memtest.MustAlloc(t, h, kib<<10, 1))
	}
	for i := 0; i < 6; i += 2 {
		h.FreeAny(b[i])
	}
	h.rover = 4
	if got := layout(h); got != "...|a|..|a|....|a|aaa|a|" {
		t.Fatal(got)
	}
	return h
}

func TestPolicy_ChoosesItsRun(t *testing.T) {
	for _, tt := range []struct {
		policy Policy
		kib    uintptr
		want   string
	}{
		{FirstFit, 2, "aa|.|a|..|a|....|a|aaa|a|"},
		{FirstFit, 4, "...|a|..|a|aaaa|a|aaa|a|"},
		{NextFit, 1, "...|a|a|.|a|....|a|aaa|a|"},
		{NextFit, 3, "...|a|..|a|aaa|.|a|aaa|a|"},
		{BestFit, 1, "...|a|a|.|a|....|a|aaa|a|"},
		{BestFit, 2, "...|a|aa|a|....|a|aaa|a|"},
		{BestFit, 3, "aaa|a|..|a|....|a|aaa|a|"},
		{WorstFit, 1, "...|a|..|a|a|...|a|aaa|a|"},
		{WorstFit, 2, "...|a|..|a|aa|..|a|aaa|a|"},
		{WorstFit, 4, "...|a|..|a|aaaa|a|aaa|a|"},
	} {
		h := holes(t, tt.policy)
		memtest.MustAlloc(t, h, tt.kib<<10, 1)
		memtest.MustCheck(t, h)
		if got := layout(h); got != tt.want {
			t.Errorf("%v of %d KiB: %s, want %s", tt.policy, tt.kib, got, tt.want)
		}
	}
}

func TestNextFit_GoesRound(t *testing.T) {
	h := holes(t, NextFit)
	memtest.MustAlloc(t, h, 4<<10, 1)
	memtest.MustAlloc(t, h, 3<<10, 1) // behind the block of 4 there is nothing
	memtest.MustAlloc(t, h, 1<<10, 1)
	if got := layout(h); got != "aaa|a|a|.|a|aaaa|a|aaa|a|" {
		t.Error(got)
	}
}

func TestWorstFit_TakesTheLowestOfEquals(t *testing.T) {
	h := holes(t, WorstFit)
	memtest.MustAlloc(t, h, 1<<10, 1) // of the four, three are left: as many as in front
	memtest.MustAlloc(t, h, 1<<10, 1)
	if got := layout(h); got != "a|..|a|..|a|a|...|a|aaa|a|" {
		t.Error(got)
	}
	h = holes(t, WorstFit)
	memtest.MustAlloc(t, h, 3<<10, 4096) // the run of four starts at 7, the first one at 0
	if got := layout(h); got != "aaa|a|..|a|....|a|aaa|a|" && got != "...|a|..|a|.|aaa|a|aaa|a|" {
		t.Error(got)
	}
	memtest.MustCheck(t, h)
	if _, err := h.Alloc(5<<10, 1); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Error(err)
	}
}

func TestBestFit_OfEqualsTakesTheLowest(t *testing.T) {
	h := newHeap(t, nil, tiny(BestFit))
	p := memtest.MustAlloc(t, h, 2<<10, 1)
	memtest.MustAlloc(t, h, 1<<10, 1)
	q := memtest.MustAlloc(t, h, 2<<10, 1)
	memtest.MustAlloc(t, h, 1<<10, 1)
	h.FreeAny(q)
	h.FreeAny(p)
	if got := memtest.MustAlloc(t, h, 1<<10, 1); got != p {
		t.Errorf("got %p, want %p", got, p)
	}
}

func TestHeap_FreeMergesBothNeighbours(t *testing.T) {
	for _, policy := range policies {
		h := newHeap(t, nil, tiny(policy))
		var p [4]unsafe.Pointer
		for i := range p {
			p[i] = memtest.MustAlloc(t, h, 2048, 1)
		}
		for _, step := range []struct {
			free int
			want string
		}{
			{0, "..|aa|aa|aa|........|"},
			{2, "..|aa|..|aa|........|"},
			{1, "......|aa|........|"},
			{3, "................|"},
		} {
			h.Free(p[step.free], 2048)
			memtest.MustCheck(t, h)
			if got := layout(h); got != step.want {
				t.Errorf("after freeing block %d: %s, want %s", step.free, got, step.want)
			}
		}
	}
}

func TestHeap_FillsToTheLastGranule(t *testing.T) {
	for _, policy := range policies {
		h := newHeap(t, nil, tiny(policy))
		p := memtest.MustAlloc(t, h, 15<<10, 1)
		memtest.MustAlloc(t, h, 1024, 1)
		_, err := h.Alloc(1, 1)
		var full *memory.Exhausted
		if !errors.As(err, &full) || full.Need != 1 || full.Have != 0 || full.Cause != nil || full.Limit != 16<<10 {
			t.Errorf("%v: one granule more: %v", policy, err)
		}
		h.Free(p, 15<<10)
		memtest.MustAlloc(t, h, 15<<10, 4096)
	}
}

func TestHeap_AlignmentSplitsOffTheFront(t *testing.T) {
	for _, policy := range policies {
		h := newHeap(t, nil, tiny(policy))
		memtest.MustAlloc(t, h, 1024, 1)
		p := memtest.MustAlloc(t, h, 1024, 4096)
		if uintptr(p)%4096 != 0 || layout(h) != "a|...|a|...........|" {
			t.Errorf("%v: %p in %s", policy, p, layout(h))
		}
		memtest.MustAlloc(t, h, 11<<10, 1024)
		h.Free(p, 1024)
		memtest.MustAlloc(t, h, 1000, 4096) // fits, with nothing to over-allocate
		memtest.MustAlloc(t, h, 3<<10, 512)
		if got := layout(h); got != "a|aaa|a|aaaaaaaaaaa|" {
			t.Errorf("%v: %s", policy, got)
		}
	}
}

func TestHeap_LargestFreeCanBeAllocated(t *testing.T) {
	for _, policy := range policies {
		h := holes(t, policy)
		most := h.Stats().LargestFree
		if _, err := h.Alloc(uintptr(most)+1, 1); err == nil || most != 4<<10 {
			t.Errorf("%v: %d bytes fit where %d are the most", policy, most+1, most)
		}
		memtest.MustAlloc(t, h, uintptr(most), 1)
	}
}

func TestHeap_NothingIsCommittedAtFirst(t *testing.T) {
	h := newHeap(t, nil, Config{})
	if s := h.Stats(); s.Committed != 0 || s.Reserved != 64<<20 || s.LargestFree != 0 {
		t.Errorf("fresh: %+v", s)
	}
	memtest.MustAlloc(t, h, 1, 1)
	if s := h.Stats(); s.Committed != page.Granule || s.InUse != 64 || s.Requested != 1 || s.LargestFree != page.Granule-64 {
		t.Errorf("after one byte: %+v", s)
	}
}

func TestHeap_MisuseIsNamedAndChangesNothing(t *testing.T) {
	for _, policy := range policies {
		h, other := newHeap(t, nil, Config{Policy: policy}), newHeap(t, nil, Config{})
		p, q := memtest.MustAlloc(t, h, 3000, 1), memtest.MustAlloc(t, h, 10, 1)
		foreign := memtest.MustAlloc(t, other, 3000, 1)
		h.Free(q, 10)
		before := h.Stats()
		for _, m := range []struct {
			call func()
			want []string
		}{
			{func() { h.Free(q, 10) }, []string{"freelist.Free(", "size 10", "double free"}},
			{func() { h.FreeAny(q) }, []string{"freelist.FreeAny", "double free"}},
			{func() { h.SizeOf(q) }, []string{"freelist.SizeOf", "double free or stale"}},
			{func() { h.Free(q, math.MaxUint) }, []string{"double free"}}, // 0 - 1 in the live map
			{func() { h.Free(q, math.MaxUint32) }, []string{"double free"}},
			{func() { h.Free(p, 2999) }, []string{"wrong size: the block was requested with 3000 bytes, not 2999"}},
			{func() { h.Free(p, 3000+1<<31+1<<31*(math.MaxUint>>63)) }, []string{"freelist.Free"}},
			{func() { h.Free(unsafe.Add(p, 1024), 3000) }, []string{"interior pointer: it lies 1024 bytes into the block of 3000 bytes"}},
			{func() { h.FreeAny(unsafe.Add(p, 1)) }, []string{"interior pointer: it lies 1 bytes into"}},
			{func() { h.Free(foreign, 3000) }, []string{"does not lie in this heap"}},
			{func() { h.SizeOf(foreign) }, []string{"does not lie in this heap"}},
			{func() { h.SizeOf(nil) }, []string{"does not lie in this heap"}},
			{func() { h.FreeAny(unsafe.Add(p, 32<<20)) }, []string{"beyond the committed memory"}},
			{func() { h.Resize(p, 1, 2) }, []string{"freelist.Resize", "requested with 3000 bytes, not 1"}},
			{func() { h.Resize(nil, 1, 2) }, []string{"freelist.Resize", "this heap"}},
		} {
			memtest.Misuse(t, m.call, m.want...)
		}
		if after := h.Stats(); after != before {
			t.Errorf("misuse changed the books from %+v to %+v", before, after)
		}
		memtest.MustCheck(t, h)
		h.Free(p, 3000)
	}
}

func TestHeap_TooLargeAndExhaustedAreToldApart(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 1 << 20})
	if _, err := h.Alloc(1<<20+1, 1); err != memory.ErrTooLarge {
		t.Errorf("more than the reservation: %v", err)
	}
	memtest.MustAlloc(t, h, 1<<20, 4096)
	if _, err := h.Alloc(1<<20, 1); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("more than is left: %v", err)
	}
}
