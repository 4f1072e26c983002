package pool

import (
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// endingSource returns a source, and what ends it as a manager does that is closed.
func endingSource(t *testing.T) (page.Source, func()) {
	t.Helper()
	src := memtest.NewFaulty()
	whole, err := src.Reserve(16 << 20)
	if err != nil {
		t.Fatal(err)
	}
	c, err := page.NewCarve(src, whole)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, func() {
		c.Close()
		if err := src.Release(whole); err != nil {
			t.Fatal(err)
		}
		calls, returns := src.Calls(), src.Returns()
		t.Cleanup(func() {
			if src.Calls() != calls || src.Returns() != returns {
				t.Errorf("after its source had ended it called the system")
			}
		})
	}
}

// isEmpty verifies the statistics of a closed pool.
func isEmpty(t *testing.T, name string, s memory.Stats) {
	t.Helper()
	if s.Live != 0 || s.InUse != 0 || s.Committed != 0 || s.Reserved != 0 || s.Allocs != s.Frees {
		t.Errorf("%s: its source has ended, yet the statistics are %+v", name, s)
	}
}

func TestBlocks_ThatOutliveTheirSourceAreClosed(t *testing.T) {
	src, end := endingSource(t)
	b := newBlocks(t, src, BlocksConfig{Capacity: 1000})
	p, q := mustGet(t, b), mustGet(t, b)
	b.Put(q)
	end()
	for range 2 {
		if q := b.TryGet(); q != nil {
			t.Errorf("TryGet = %p", q)
		}
		if _, err := b.Get(); err != memory.ErrClosed {
			t.Errorf("Get: %v", err)
		}
		for _, size := range []uintptr{0, 64, 65} {
			if _, err := b.Alloc(size, 1); err != memory.ErrClosed {
				t.Errorf("Alloc(%d): %v", size, err)
			}
		}
		if _, err := b.Alloc(1, 3); err != memory.ErrClosed {
			t.Errorf("Alloc aligned to 3: %v", err)
		}
		memtest.Misuse(t, func() { b.Put(p) }, "pool.Put(0x", "closed")
		memtest.Misuse(t, func() { b.Free(p, 64) }, "pool.Free(0x", "the pool is closed")
		memtest.Misuse(t, func() { b.FreeAny(p) }, "pool.FreeAny(0x", "the pool is closed")
		memtest.Misuse(t, func() { b.SizeOf(p) }, "pool.SizeOf(0x", "the pool is closed")
		memtest.Misuse(t, b.Reset, "pool.Reset", "the pool is closed")
		if err := b.Grow(1); err != memory.ErrClosed {
			t.Errorf("Grow: %v", err)
		}
		if err := b.Trim(); err != memory.ErrClosed {
			t.Errorf("Trim: %v", err)
		}
		if b.Owns(p) || b.Len() != 0 || b.Cap() != 0 {
			t.Errorf("owns %t, len %d, cap %d", b.Owns(p), b.Len(), b.Cap())
		}
		isEmpty(t, "Blocks", b.Stats())
		mustCheck(t, b)
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	if peak := b.Stats().Peak; peak != 64*64 {
		t.Errorf("peak %d; want the %d of before", peak, 64*64)
	}
}

func TestPool_ThatOutlivesItsSourceIsClosed(t *testing.T) {
	src, end := endingSource(t)
	p := newPool(t, src, 1000)
	h, _ := mustNew(t, p)
	g, _ := mustNew(t, p)
	p.Free(g)
	all, runs := p.All(), p.Runs()
	for range all {
		end()
	}
	for range 2 {
		if h, v, err := p.New(); err != memory.ErrClosed || v != nil || !h.IsZero() {
			t.Errorf("New: %v, %v, %v", h, v, err)
		}
		if _, ok := p.Get(h); ok || p.Free(h) {
			t.Error("a handle is valid")
		}
		for range all {
			t.Error("All yields something")
		}
		for range runs {
			t.Error("Runs yields something")
		}
		memtest.Misuse(t, p.Reset, "pool.Reset: ", p.Name()+": the pool is closed; if a manager resets it, call RemovePool before Close")
		if err := p.Grow(1); err != memory.ErrClosed {
			t.Errorf("Grow: %v", err)
		}
		if err := p.Trim(); err != memory.ErrClosed {
			t.Errorf("Trim: %v", err)
		}
		if p.Len() != 0 || p.Cap() != 0 || p.Name() != "pool.enemy" {
			t.Errorf("len %d, cap %d, name %q", p.Len(), p.Cap(), p.Name())
		}
		isEmpty(t, "Pool", p.Stats())
		mustCheck(t, p)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestSplit_ThatOutlivesItsSourceIsClosed(t *testing.T) {
	src, end := endingSource(t)
	p := newSplit(t, src, 1000)
	h, _, _, err := p.New()
	if err != nil {
		t.Fatal(err)
	}
	for range p.Runs() {
		end()
	}
	for range 2 {
		if _, hot, cold, err := p.New(); err != memory.ErrClosed || hot != nil || cold != nil {
			t.Errorf("New: %v", err)
		}
		_, _, ok := p.Get(h)
		_, ok2 := p.Hot(h)
		_, ok3 := p.Cold(h)
		if ok || ok2 || ok3 || p.Free(h) || p.Len() != 0 || p.Cap() != 0 {
			t.Error("it holds something")
		}
		memtest.Misuse(t, p.Reset, "pool.Reset: ", p.Name()+": the pool is closed; if a manager resets it, call RemovePool before Close")
		if err := p.Grow(1); err != memory.ErrClosed {
			t.Errorf("Grow: %v", err)
		}
		if err := p.Trim(); err != memory.ErrClosed {
			t.Errorf("Trim: %v", err)
		}
		isEmpty(t, "Split", p.Stats())
		mustCheck(t, p)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestRegistry_ThatOutlivesItsSourceIsClosed(t *testing.T) {
	src, end := endingSource(t)
	r := newRegistry(t, src)
	h, _, err := NewIn[enemy](r)
	if err != nil {
		t.Fatal(err)
	}
	end()
	for range 2 {
		if _, _, err := NewIn[enemy](r); err != memory.ErrClosed {
			t.Errorf("NewIn: %v", err)
		}
		if FreeIn(r, h) {
			t.Error("a handle is valid")
		}
		if _, err := Register[int](r, Config{}); err == nil {
			t.Error("Register on a source that has ended")
		}
		memtest.Misuse(t, r.Reset, "pool.Reset", "the registry is closed")
		if err := r.Trim(); err != memory.ErrClosed {
			t.Errorf("Trim: %v", err)
		}
		isEmpty(t, "Registry", r.Stats())
		mustCheck(t, r)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The end of the source does not affect a pool that is closed already.
func TestPools_ClosedBeforeTheirSourceAreNotAffected(t *testing.T) {
	src, end := endingSource(t)
	b, p, s := newBlocks(t, src, BlocksConfig{Capacity: 10}), newPool(t, src, 10), newSplit(t, src, 10)
	for _, err := range []error{b.Close(), p.Close(), s.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	b.peak, p.peak, s.peak = 1, 2, 3
	if err := src.(*page.Carve).Check(); err != nil {
		t.Fatal(err)
	}
	end()
	for _, c := range []memory.Checker{b, p, s} {
		mustCheck(t, c)
	}
}

func TestSplit_HalfClosedIsClosedAndCanBeClosedAgain(t *testing.T) {
	for fails := 1; fails <= 4; fails++ { // decommit and release of either region
		src := memtest.NewFaulty()
		p := newSplit(t, src, 1000)
		h, _, _, err := p.New()
		if err != nil {
			t.Fatal(err)
		}
		src.FailReturnAt = fails
		if err := p.Close(); err == nil {
			t.Fatalf("return %d fails, and Close says nothing", fails)
		}
		mustCheck(t, p)
		if _, hot, cold, err := p.New(); err == nil {
			hot.X, cold.Stats[0] = 1, 1
		} else if err != memory.ErrClosed {
			t.Errorf("return %d: New after a failed Close: %v", fails, err)
		}
		if _, ok := p.Hot(h); ok {
			t.Errorf("return %d: a handle outlives Close", fails)
		}
		if err := p.Close(); err != nil || src.Reserved() != 0 {
			t.Errorf("return %d: the second Close: %v, %d reservations left", fails, err, src.Reserved())
		}
		isEmpty(t, "Split", p.Stats())
	}
}
