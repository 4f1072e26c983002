package slab

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// pinned returns a heap with a full budget whose spans are either empty or hold one live block of
// 64 bytes, so that no request of 4096 bytes can be met, whatever is recycled; and the live blocks.
func pinned(t *testing.T, budget uintptr) (*Heap, *page.Limit, []unsafe.Pointer) {
	t.Helper()
	limit := page.NewLimit(nil, budget)
	h, err := New(limit, Config{Reserve: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	var all, live []unsafe.Pointer
	for {
		p, err := h.Alloc(64, 8)
		if err != nil {
			break
		}
		all = append(all, p)
	}
	units := map[uintptr]bool{}
	for _, p := range all { // one in each second unit stays
		unit := (uintptr(p) - uintptr(h.base)) / unitBytes
		if unit%2 == 0 && !units[unit] {
			units[unit] = true
			live = append(live, p)
			continue
		}
		h.Free(p, 64)
	}
	return h, limit, live
}

func classes(h *Heap) []ClassStats { return slices.Collect(h.Classes) }

func TestUndo_AFailureChangesNoClass(t *testing.T) {
	for _, budget := range []uintptr{128 << 10, 1 << 20, 6 << 20} {
		h, limit, live := pinned(t, budget)
		before, stats := classes(h), h.Stats()
		for range 3 { // the second and the third time it is known
			if _, err := h.Alloc(4000, 8); !errors.Is(err, memory.ErrOutOfMemory) {
				t.Fatalf("budget %d: Alloc: %v", budget, err)
			}
			if got := classes(h); !slices.Equal(got, before) {
				t.Fatalf("budget %d: the classes are %v, were %v", budget, got, before)
			}
			stats.Failures++
			if got := h.Stats(); got != stats {
				t.Fatalf("budget %d: %+v, want %+v", budget, got, stats)
			}
			memtest.MustCheck(t, h)
		}
		for _, p := range live {
			h.Free(p, 64)
		}
		memtest.MustAlloc(t, h, 4000, 8) // there are empty spans now
		memtest.MustCheck(t, h)
		if err := h.Trim(); err != nil || limit.Committed() >= budget {
			t.Errorf("budget %d: Trim: %v, %d bytes stay committed", budget, err, limit.Committed())
		}
		memtest.MustCheck(t, h)
	}
}

// A budget that rises makes a request possible that was known to fail.
func TestUndo_WhatIsKnownToFailIsTriedWhenMemoryComes(t *testing.T) {
	h, limit, _ := pinned(t, 256<<10)
	for range 2 {
		if _, err := h.Alloc(4000, 8); !errors.Is(err, memory.ErrOutOfMemory) {
			t.Fatal(err)
		}
	}
	limit.SetBudget(512 << 10)
	memtest.MustAlloc(t, h, 4000, 8)
	memtest.MustCheck(t, h)
}

// What recycling can give is found after a failure of a larger request, by Alloc and by Trim.
func TestUndo_WhatWasGivenBackCanBeHad(t *testing.T) {
	h, _, _ := pinned(t, 256<<10)
	if _, err := h.Alloc(4000, 8); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Fatal(err)
	}
	for size := uintptr(1000); size >= 100; size -= 100 {
		memtest.MustAlloc(t, h, size, 8) // fits into one unit
		memtest.MustCheck(t, h)
	}
	h, limit, live := pinned(t, 256<<10)
	for _, p := range live[len(live)/2:] {
		h.Free(p, 64)
	}
	if _, err := h.Alloc(60_000, 8); !errors.Is(err, memory.ErrTooLarge) {
		t.Fatal(err)
	}
	before := limit.Committed()
	if err := h.Trim(); err != nil || limit.Committed() >= before*3/4 {
		t.Errorf("Trim: %v, %d of %d bytes stay committed", err, limit.Committed(), before)
	}
}

// A source that panics, or that is told to free, trim or reset in the middle, leaves a sound heap.
func TestUndo_WhatTheSourceDoesMeanwhileCounts(t *testing.T) {
	for name, act := range map[string]func(h *Heap, live []unsafe.Pointer){
		"panic": func(*Heap, []unsafe.Pointer) { panic("told") },
		"free": func(h *Heap, live []unsafe.Pointer) {
			for _, p := range live[:len(live)/2] {
				h.Free(p, 64)
			}
		},
		"trim":  func(h *Heap, _ []unsafe.Pointer) { _ = h.Trim() },
		"reset": func(h *Heap, _ []unsafe.Pointer) { h.Reset() },
	} {
		src := &teller{Source: page.Default()}
		h, err := New(src, Config{Reserve: 8 << 20})
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 106))
		var live []unsafe.Pointer
		for range 8000 {
			live = append(live, memtest.MustAlloc(t, h, 64, 8))
		}
		r.Shuffle(len(live), func(i, j int) { live[i], live[j] = live[j], live[i] })
		for _, p := range live[:7900] {
			h.Free(p, 64)
		}
		live = live[7900:]
		before := classes(h)
		told := false
		src.tell = func() {
			if !told || name == "panic" {
				told = true
				act(h, live)
			}
		}
		_ = panicOf(func() {
			for err == nil {
				before = classes(h)
				_, err = h.Alloc(4000, 8)
			}
		})
		memtest.MustCheck(t, h)
		if name == "panic" && (!slices.Equal(classes(h), before) || h.undo.on) {
			t.Errorf("a panic changed the classes from %v to %v", before, classes(h))
		}
		src.tell, err = nil, nil
		memtest.MustAlloc(t, h, 4000, 8)
		memtest.MustCheck(t, h)
		_ = h.Close()
	}
}

// A teller calls tell in each Commit, and refuses it then.
type teller struct {
	page.Source
	tell func()
}

func (s *teller) Commit(m page.Memory, off, size uintptr) error {
	if s.tell != nil {
		s.tell()
		return &memory.Exhausted{Op: "teller: commit", Need: size}
	}
	return s.Source.Commit(m, off, size)
}

// islands returns a heap with a full budget in which empty spans of one unit lie between spans in
// use: recycling gives single units, and no two in a row.
func islands(t *testing.T) *Heap {
	t.Helper()
	h, err := New(page.NewLimit(nil, 128<<10), Config{Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	var blocks []unsafe.Pointer
	var sizes []uintptr
	for size := range h.Classes {
		if size.Size < 1000 {
			sizes = append(sizes, size.Size)
		}
	}
	for _, size := range sizes {
		blocks = append(blocks, memtest.MustAlloc(t, h, size, 8))
	}
	for err == nil {
		_, err = h.Alloc(1024, 8)
	}
	for i := 0; i < len(blocks); i += 2 {
		h.Free(blocks[i], sizes[i])
	}
	return h
}

func TestUndo_SpansBetweenOthersComeBack(t *testing.T) {
	h := islands(t)
	before, stats := classes(h), h.Stats()
	for _, size := range []uintptr{4000, 4000, 2500, 4000} {
		if _, err := h.Alloc(size, 8); !errors.Is(err, memory.ErrOutOfMemory) {
			t.Fatalf("Alloc(%d): %v", size, err)
		}
		stats.Failures++
		if got := h.Stats(); !slices.Equal(classes(h), before) || got != stats {
			t.Fatalf("Alloc(%d) changed %+v to %+v", size, stats, got)
		}
		memtest.MustCheck(t, h)
	}
	if len(h.undo.spans) == 0 {
		t.Error("no span was recycled and given back")
	}
	for range 5 { // a smaller request is not known to fail
		memtest.MustAlloc(t, h, 1024, 8)
		memtest.MustCheck(t, h)
	}
	h = islands(t)
	if _, err := h.Alloc(4000, 8); err == nil {
		t.Fatal("4000 bytes were had")
	}
	vacant := h.vacant
	if err := h.Trim(); err != nil || h.vacant <= vacant {
		t.Errorf("Trim after a failure recycled nothing: %v, %d units vacant", err, h.vacant)
	}
	memtest.MustCheck(t, h)
	h = islands(t)
	_, _ = h.Alloc(4000, 8)
	h.Reset()
	memtest.MustAlloc(t, h, 4000, 8)
	memtest.MustCheck(t, h)
}

// A request that failed succeeds when the budget has grown enough. Recycled spans at the end count: without
// them the request would need more.
func TestUndo_ALargerBudgetMeetsAKnownFailure(t *testing.T) {
	l := page.NewLimit(nil, 80<<10)
	h, err := New(l, Config{Reserve: 1 << 20, MaxSize: 64 << 10, Classes: PowerOfTwo})
	memtest.Opened(t, h, err)
	memtest.MustAlloc(t, h, 64<<10, 16)
	h.Free(memtest.MustAlloc(t, h, 16<<10, 16), 16<<10) // an empty span behind it
	for _, budget := range []uintptr{80 << 10, 112 << 10, 112 << 10} {
		l.SetBudget(budget)
		before := h.Stats()
		if _, err := h.Alloc(64<<10, 16); !errors.Is(err, memory.ErrOutOfMemory) {
			t.Fatalf("Alloc within %d bytes: %v", budget, err)
		}
		if before.Failures++; h.Stats() != before {
			t.Fatalf("a failed Alloc changed %+v to %+v", before, h.Stats())
		}
	}
	l.SetBudget(128 << 10)
	memtest.MustAlloc(t, h, 64<<10, 16)
	memtest.MustCheck(t, h)
}

// A function of OnSoft may allocate from a span that an Alloc has taken from another class, and panic: the other class
// does not get the span back.
func TestUndo_ASpanThatIsTakenMeanwhileStaysTaken(t *testing.T) {
	limit := page.NewLimit(nil, 0)
	h, err := New(limit, Config{Reserve: 4 << 20, MaxSize: 16 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	h.Free(memtest.MustAlloc(t, h, 272, 16), 272)
	for _, size := range []uintptr{180, 9032, 648} {
		memtest.MustAlloc(t, h, size, 16)
	}
	var first unsafe.Pointer
	limit.OnSoft(limit.Committed(), func(uintptr, uintptr) {
		first = memtest.MustAlloc(t, h, 144, 16)
		panic("told")
	})
	if r := panicOf(func() {
		for err == nil {
			_, err = h.Alloc(3048, 16)
		}
	}); r != "told" {
		t.Errorf("%v, %v", r, err)
	}
	memtest.MustCheck(t, h)
	limit.OnSoft(0, nil)
	for range 100 {
		if memtest.MustAlloc(t, h, 272, 16) == first {
			t.Fatal("a block was returned twice")
		}
	}
	memtest.MustCheck(t, h)
}
