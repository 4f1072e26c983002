package arena

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

func newGrowing(t testing.TB, src page.Source, cfg GrowingConfig) *Growing {
	t.Helper()
	g, err := NewGrowing(src, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

func TestGrowing_CommitsInStepsAndNeverMoves(t *testing.T) {
	g := newGrowing(t, nil, GrowingConfig{Reserve: 1 << 20, Step: 64 << 10})
	if c := g.Stats().Committed; c != 0 {
		t.Errorf("%d bytes are committed before the first allocation", c)
	}
	first := mustAlloc(t, g, 16, 16)
	*(*uint64)(first) = 42
	for range 200 {
		mustAlloc(t, g, 4096, 16)
	}
	if *(*uint64)(first) != 42 {
		t.Error("growth lost the first block")
	}
	if s := g.Stats(); s.Committed%(64<<10) != 0 || s.Committed < 200*4096 {
		t.Errorf("committed %d is not whole steps", s.Committed)
	}
}

func TestGrowing_BlocksLargerThanAStepFit(t *testing.T) {
	g := newGrowing(t, nil, GrowingConfig{Reserve: 1 << 20, Step: 64 << 10})
	mustAlloc(t, g, 700<<10, 4096)
	_, err := g.Alloc(700<<10, 1)
	var full *memory.Exhausted
	if !errors.As(err, &full) || full.Limit != 1<<20 {
		t.Errorf("err = %v; want an Exhausted with the limit of 1 MiB", err)
	}
}

func TestGrowing_ResizeCommitsAsAllocDoes(t *testing.T) {
	g := newGrowing(t, page.NewLimit(nil, 192<<10), GrowingConfig{Reserve: 256 << 10, Step: 64 << 10})
	p := mustAlloc(t, g, 100, 1)
	if !g.Resize(p, 100, 64<<10) || g.Stats().Committed != 64<<10 {
		t.Errorf("a step holds 64 KiB: committed %d", g.Stats().Committed)
	}
	if !g.Resize(p, 64<<10, 64<<10+1) || g.Stats().Committed != 128<<10 || g.Used() != 64<<10+1 {
		t.Errorf("a byte more needs a step more: committed %d, used %d", g.Stats().Committed, g.Used())
	}
	before := g.Stats()
	for _, size := range []uintptr{192<<10 + 1, 256<<10 + 1, ^uintptr(0), ^uintptr(0) - 200} {
		if g.Resize(p, 64<<10+1, size) || g.Stats() != before {
			t.Errorf("%d bytes are beyond the budget: %+v, was %+v", size, g.Stats(), before)
		}
	}
	if !g.Resize(p, 64<<10+1, 192<<10) || !g.Resize(p, 192<<10, 10) || g.Used() != 10 {
		t.Errorf("used %d, want 10", g.Used())
	}
	m := g.Mark()
	if g.Resize(p, 10, 20) || g.Resize(p, 10, 250<<10) {
		t.Error("a block from before the mark was resized")
	}
	q := mustAlloc(t, g, 7, 1)
	before = g.Stats()
	if g.Resize(p, 10, 200<<10) || g.Stats() != before {
		t.Error("a block that is not the newest one was resized, or memory committed for it")
	}
	g.Free(q, 7)
	g.Rewind(m)
	g.Reset()
	if err := g.Trim(); err != nil {
		t.Fatal(err)
	}
	p = mustAlloc(t, g, 10, 1)
	mustAlloc(t, g, 7, 1)
	before = g.Stats()
	if g.Resize(p, 10, 100<<10) || g.Stats() != before {
		t.Error("memory was committed for a block that is not the newest one")
	}
	if err := g.Check(); err != nil {
		t.Error(err)
	}
}

// The function of a budget's soft limit is called during the Resize that commits.
func TestGrowing_WhatTheSoftMarkFreesIsNotResized(t *testing.T) {
	for name, c := range map[string]struct {
		relieve func(g *Growing, p unsafe.Pointer)
		want    bool
	}{
		"nothing": {func(*Growing, unsafe.Pointer) {}, true},
		"itself":  {func(g *Growing, p unsafe.Pointer) { g.Free(p, 10_000) }, false},
		"all":     {func(g *Growing, _ unsafe.Pointer) { g.Reset() }, false},
		"for another of its size": {func(g *Growing, _ unsafe.Pointer) {
			g.Reset()
			_, _ = g.Alloc(10_000, 8)
		}, false},
	} {
		limit := page.NewLimit(nil, 0)
		g := newGrowing(t, limit, GrowingConfig{Reserve: 1 << 20, Step: 64 << 10})
		p := mustAlloc(t, g, 10_000, 8)
		limit.OnSoft(100<<10, func(uintptr, uintptr) { c.relieve(g, p) })
		if got := g.Resize(p, 10_000, 300_000); got != c.want {
			t.Errorf("%s: Resize = %t", name, got)
		}
		if err := g.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestGrowing_ResetKeepsMemoryAndTrimReturnsIt(t *testing.T) {
	budget := page.NewLimit(nil, 512<<10)
	g := newGrowing(t, budget, GrowingConfig{Reserve: 1 << 20, Step: 64 << 10})
	mustAlloc(t, g, 300<<10, 1)
	g.Reset()
	if budget.Committed() < 300<<10 {
		t.Error("Reset gave memory back")
	}
	mustAlloc(t, g, 10, 1)
	if err := g.Trim(); err != nil {
		t.Fatal(err)
	}
	if budget.Committed() != page.Granule {
		t.Errorf("Trim left %d bytes committed for 10 in use", budget.Committed())
	}
	if err := g.Check(); err != nil {
		t.Error(err)
	}
	p := (*[200 << 10]byte)(mustAlloc(t, g, 200<<10, 1))
	if p[100<<10] != 0 && p[100<<10] != 0xCD {
		t.Errorf("fresh memory holds %#x", p[100<<10])
	}
}

func TestGrowing_BudgetRefusesAndLetsGoOn(t *testing.T) {
	g := newGrowing(t, page.NewLimit(nil, 128<<10), GrowingConfig{Reserve: 1 << 20, Step: 64 << 10})
	mustAlloc(t, g, 100<<10, 1)
	if _, err := g.Alloc(100<<10, 1); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("beyond the budget: %v", err)
	}
	mustAlloc(t, g, 20<<10, 1)
	if f := g.Stats().Failures; f != 1 {
		t.Errorf("failures %d, want 1", f)
	}
}

func TestGrowing_TypedHelpersZero(t *testing.T) {
	g := newGrowing(t, nil, GrowingConfig{})
	for range 2 {
		v, err := NewIn(g, vecType)
		if err != nil || *v != (vec{}) {
			t.Fatalf("NewIn = %v, %v", v, err)
		}
		s, err := MakeSliceIn(g, vecType, 100_000)
		if err != nil || len(s) != 100_000 || s[99_999] != (vec{}) {
			t.Fatalf("MakeSliceIn: %d values, %v", len(s), err)
		}
		*v, s[99_999] = vec{1, 1, 1}, vec{2, 2, 2}
		g.Reset()
	}
	if _, err := NewIn(g, memory.Type[vec]{}); !errors.Is(err, memory.ErrTooLarge) {
		t.Errorf("NewIn without proof: %v", err)
	}
	if _, err := MakeSliceIn(g, vecType, -1); !errors.Is(err, memory.ErrTooLarge) {
		t.Errorf("MakeSliceIn of -1: %v", err)
	}
	if f := g.Stats().Failures; f != 2 {
		t.Errorf("failures %d, want 2", f)
	}
}

func TestGrowing_UninitSliceIsNotZeroed(t *testing.T) {
	g := newGrowing(t, nil, GrowingConfig{})
	s, err := MakeSliceIn(g, vecType, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s {
		s[i] = vec{7, 7, 7}
	}
	g.Reset()
	if s, err = MakeSliceUninitIn(g, vecType, 1000); err != nil || len(s) != 1000 || s[999] == (vec{}) {
		t.Errorf("%d values, %v, %v", len(s), s[999], err)
	}
	if s, err := MakeSliceUninitIn(g, vecType, -1); s != nil || err != memory.ErrTooLarge {
		t.Errorf("-1 values: %v, %v", s, err)
	}
}

func TestGrowing_MarksAndHooks(t *testing.T) {
	g := newGrowing(t, nil, GrowingConfig{})
	m := g.Mark()
	ran := false
	g.OnReset(func() { ran = true })
	mustAlloc(t, g, 1<<20, 1)
	g.Rewind(m)
	if g.Used() != 0 || !ran {
		t.Errorf("used %d, hook ran: %t", g.Used(), ran)
	}
}

func TestGrowing_UseAfterClose(t *testing.T) {
	g := newGrowing(t, nil, GrowingConfig{})
	mustAlloc(t, g, 10, 1)
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if p, err := g.Alloc(0, 1); p != nil || !errors.Is(err, memory.ErrClosed) {
		t.Errorf("Alloc after Close = %v, %v", p, err)
	}
	if err := g.Trim(); !errors.Is(err, memory.ErrClosed) {
		t.Errorf("Trim after Close: %v", err)
	}
	memtest.Misuse(t, g.Reset, "closed")
}

func TestGrowing_BadConfigurationSaysWhatIsAllowed(t *testing.T) {
	_, err := NewGrowing(nil, GrowingConfig{Reserve: 1 << 10, Step: 1 << 20})
	if err == nil || !strings.Contains(err.Error(), "Step 1048576: want at most 1024") {
		t.Errorf("err = %v", err)
	}
}

func TestGrowing_CheckNamesWhatIsCorrupt(t *testing.T) {
	g := newGrowing(t, nil, GrowingConfig{})
	mustAlloc(t, g, 10, 1)
	g.lin.limit -= page.Granule
	if err := g.Check(); err == nil || !strings.Contains(err.Error(), "differs from the") {
		t.Errorf("Check = %v", err)
	}
	g.lin.limit += page.Granule
}
