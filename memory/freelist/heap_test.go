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

var policies = []Policy{FirstFit, NextFit, BestFit}

func newHeap(t testing.TB, src page.Source, cfg Config) *Heap {
	t.Helper()
	h, err := New(src, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(h.Check(), h.Close()); err != nil {
			t.Error(err)
		}
	})
	return h
}

func mustAlloc(t testing.TB, h *Heap, size, align uintptr) unsafe.Pointer {
	t.Helper()
	p, err := h.Alloc(size, align)
	if err != nil {
		t.Fatalf("Alloc(%d, %d): %v", size, align, err)
	}
	return p
}

func mustCheck(t testing.TB, h *Heap) {
	t.Helper()
	if err := h.Check(); err != nil {
		t.Fatal(err)
	}
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
		b = append(b, mustAlloc(t, h, kib<<10, 1))
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
	} {
		h := holes(t, tt.policy)
		mustAlloc(t, h, tt.kib<<10, 1)
		mustCheck(t, h)
		if got := layout(h); got != tt.want {
			t.Errorf("%v of %d KiB: %s, want %s", tt.policy, tt.kib, got, tt.want)
		}
	}
}

func TestNextFit_GoesRound(t *testing.T) {
	h := holes(t, NextFit)
	mustAlloc(t, h, 4<<10, 1)
	mustAlloc(t, h, 3<<10, 1) // behind the block of 4 there is nothing
	mustAlloc(t, h, 1<<10, 1)
	if got := layout(h); got != "aaa|a|a|.|a|aaaa|a|aaa|a|" {
		t.Error(got)
	}
}

func TestBestFit_OfEqualsTakesTheLowest(t *testing.T) {
	h := newHeap(t, nil, tiny(BestFit))
	p := mustAlloc(t, h, 2<<10, 1)
	mustAlloc(t, h, 1<<10, 1)
	q := mustAlloc(t, h, 2<<10, 1)
	mustAlloc(t, h, 1<<10, 1)
	h.FreeAny(q)
	h.FreeAny(p)
	if got := mustAlloc(t, h, 1<<10, 1); got != p {
		t.Errorf("got %p, want %p", got, p)
	}
}

func TestHeap_FreeMergesBothNeighbours(t *testing.T) {
	for _, policy := range policies {
		h := newHeap(t, nil, tiny(policy))
		var p [4]unsafe.Pointer
		for i := range p {
			p[i] = mustAlloc(t, h, 2048, 1)
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
			mustCheck(t, h)
			if got := layout(h); got != step.want {
				t.Errorf("after freeing block %d: %s, want %s", step.free, got, step.want)
			}
		}
	}
}

func TestHeap_FillsToTheLastGranule(t *testing.T) {
	for _, policy := range policies {
		h := newHeap(t, nil, tiny(policy))
		p := mustAlloc(t, h, 15<<10, 1)
		mustAlloc(t, h, 1024, 1)
		_, err := h.Alloc(1, 1)
		var full *memory.Exhausted
		if !errors.As(err, &full) || full.Need != 1 || full.Have != 0 || full.Limit != 16<<10 {
			t.Errorf("%v: one granule more: %v", policy, err)
		}
		h.Free(p, 15<<10)
		mustAlloc(t, h, 15<<10, 4096)
	}
}

func TestHeap_AlignmentSplitsOffTheFront(t *testing.T) {
	for _, policy := range policies {
		h := newHeap(t, nil, tiny(policy))
		mustAlloc(t, h, 1024, 1)
		p := mustAlloc(t, h, 1024, 4096)
		if uintptr(p)%4096 != 0 || layout(h) != "a|...|a|...........|" {
			t.Errorf("%v: %p in %s", policy, p, layout(h))
		}
		mustAlloc(t, h, 11<<10, 1024)
		h.Free(p, 1024)
		mustAlloc(t, h, 1000, 4096) // fits, with nothing to over-allocate
		mustAlloc(t, h, 3<<10, 512)
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
		mustAlloc(t, h, uintptr(most), 1)
	}
}

func TestHeap_NothingIsCommittedAtFirst(t *testing.T) {
	h := newHeap(t, nil, Config{})
	if s := h.Stats(); s.Committed != 0 || s.Reserved != 64<<20 || s.LargestFree != 0 {
		t.Errorf("fresh: %+v", s)
	}
	mustAlloc(t, h, 1, 1)
	if s := h.Stats(); s.Committed != 256<<10 || s.InUse != 64 || s.Requested != 1 || s.LargestFree != 256<<10-64 {
		t.Errorf("after one byte: %+v", s)
	}
}

func TestHeap_MisuseIsNamedAndChangesNothing(t *testing.T) {
	for _, policy := range policies {
		h, other := newHeap(t, nil, Config{Policy: policy}), newHeap(t, nil, Config{})
		p, q := mustAlloc(t, h, 3000, 1), mustAlloc(t, h, 10, 1)
		foreign := mustAlloc(t, other, 3000, 1)
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
		mustCheck(t, h)
		h.Free(p, 3000)
	}
}

func TestHeap_SizeOfIsWhatWasRequested(t *testing.T) {
	h := newHeap(t, nil, Config{})
	for _, size := range []uintptr{0, 1, 63, 64, 65, 70_001} {
		p := mustAlloc(t, h, size, 64)
		if got := h.SizeOf(p); got != size {
			t.Errorf("SizeOf = %d, want %d", got, size)
		}
		h.FreeAny(p)
	}
}

func TestHeap_TooLargeAndExhaustedAreToldApart(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 1 << 20})
	if _, err := h.Alloc(1<<20+1, 1); err != memory.ErrTooLarge {
		t.Errorf("more than the reservation: %v", err)
	}
	mustAlloc(t, h, 1<<20, 4096)
	if _, err := h.Alloc(1<<20, 1); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("more than is left: %v", err)
	}
}

func TestHeap_BudgetRefusesAndLetsGoOn(t *testing.T) {
	h := newHeap(t, page.NewLimit(nil, 128<<10), Config{Reserve: 1 << 20})
	p := mustAlloc(t, h, 100<<10, 1)
	before := h.Stats()
	_, err := h.Alloc(100<<10, 1)
	var full *memory.Exhausted
	if !errors.As(err, &full) || full.Need != 100<<10 || full.Have != 12<<10 || full.Cause == nil {
		t.Errorf("beyond the budget: %v", err)
	}
	before.Failures++
	if after := h.Stats(); after != before {
		t.Errorf("the refusal changed the books from %+v to %+v", before, after)
	}
	mustAlloc(t, h, 28<<10, 1)
	h.Free(p, 100<<10)
	mustAlloc(t, h, 100<<10, 1)
}

func TestHeap_ResetKeepsMemoryAndTrimReturnsIt(t *testing.T) {
	budget := page.NewLimit(nil, 1<<20)
	h := newHeap(t, budget, Config{Reserve: 1 << 20})
	p := mustAlloc(t, h, 300<<10, 1)
	h.Reset()
	memtest.Misuse(t, func() { h.Free(p, 300<<10) }, "double free or stale")
	if budget.Committed() < 300<<10 {
		t.Error("Reset gave memory back")
	}
	mustAlloc(t, h, 10, 1)
	if err := h.Trim(); err != nil || budget.Committed() != page.Granule {
		t.Errorf("Trim: %v, %d bytes committed for 10 in use", err, budget.Committed())
	}
	mustCheck(t, h)
	h.Reset()
	if err := h.Trim(); err != nil || budget.Committed() != 0 || len(h.runs) != 0 {
		t.Errorf("Trim: %v, %d bytes committed for none in use", err, budget.Committed())
	}
	mustAlloc(t, h, page.Granule, 1)
	if err := h.Trim(); err != nil || len(h.runs) != 0 {
		t.Errorf("Trim: %v, %d runs for a full page", err, len(h.runs))
	}
	mustCheck(t, h)
}

func TestHeap_SystemThatKeepsItsMemory(t *testing.T) {
	src := memtest.NewFaulty()
	h := newHeap(t, src, Config{})
	p := mustAlloc(t, h, 10, 1)
	before := h.Stats()
	src.FailReturns = true
	if err := h.Trim(); err == nil || !strings.Contains(err.Error(), "freelist: trim") || h.Stats() != before {
		t.Errorf("Trim = %v, books %+v", err, h.Stats())
	}
	mustCheck(t, h)
	if err := h.Close(); err == nil || src.Reserved() != 1 {
		t.Fatalf("Close = %v, %d reservations", err, src.Reserved())
	}
	memtest.Misuse(t, func() { h.Free(p, 10) }, "closed")
	src.FailReturns = false
	if err := h.Close(); err != nil || src.Reserved() != 0 {
		t.Errorf("second Close: %v, %d reservations left", err, src.Reserved())
	}
}

func TestHeap_UseAfterClose(t *testing.T) {
	h := newHeap(t, nil, Config{})
	p := mustAlloc(t, h, 10, 1)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	for _, size := range []uintptr{0, 1, 4096, math.MaxUint} {
		if _, err := h.Alloc(size, 1); err != memory.ErrClosed {
			t.Errorf("Alloc(%d): %v", size, err)
		}
	}
	memtest.Misuse(t, func() { h.Free(p, 10) }, "freelist.Free", "closed")
	memtest.Misuse(t, func() { h.FreeAny(p) }, "closed")
	memtest.Misuse(t, func() { h.SizeOf(p) }, "closed")
	memtest.Misuse(t, func() { h.Resize(p, 10, 20) }, "closed")
	memtest.Misuse(t, h.Reset, "freelist.Reset", "closed")
	if err := h.Trim(); err != memory.ErrClosed {
		t.Errorf("Trim: %v", err)
	}
	if s := h.Stats(); s.Live != 0 || s.Reserved != 0 || h.Owns(p) {
		t.Errorf("closed: %+v, Owns = %t", s, h.Owns(p))
	}
	h.Free(nil, 10)
	h.FreeAny(nil)
}

func TestNew_BadConfigurationSaysWhatIsAllowed(t *testing.T) {
	for want, cfg := range map[string]Config{
		"granule 100 is not a power of two from 16 to 16384": {Granule: 100},
		"granule 8 is not a power of two":                    {Granule: 8},
		"granule 32768 is not":                               {Granule: 32 << 10},
		"Policy(7) is none of FirstFit, NextFit and BestFit": {Policy: 7},
		"at most 17179869184 are possible with granules of":  {Reserve: math.MaxInt, Granule: 16},
	} {
		if _, err := New(nil, cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("err = %v, want %q", err, want)
		}
	}
}
