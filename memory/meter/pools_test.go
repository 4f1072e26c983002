package meter

import (
	"fmt"
	"testing"
	"time"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
)

// fake registers a pool whose books are the test's.
func fake(m *tiers.Manager, name string, s *memory.Stats) {
	m.AddPool(name, &tiers.Funcs{StatsFunc: func() memory.Stats { return *s }})
}

func TestPools_EachHasItsOwnFiguresAndTheOneThatGrowsIsNamed(t *testing.T) {
	atEveryRate(t, func(t *testing.T, hz float64) {
		g := newGame(t, hz, tiers.Config{})
		var calm, leaky memory.Stats
		calm = memory.Stats{InUse: 1 << 20, Committed: 2 << 20, Peak: 1 << 20, Live: 7, Allocs: 7}
		fake(g.m, "calm", &calm)
		fake(g.m, "leaky", &leaky)
		owed := 0.0
		g.run(50, func(dt float64) {
			for owed += 100 * dt; owed >= 1; owed-- {
				leaky.InUse, leaky.Live, leaky.Allocs = leaky.InUse+1024, leaky.Live+1, leaky.Allocs+1
			}
		})
		p := g.r.Pools()
		if len(p) != 2 || p[0].Name != "calm" || p[0].InUse != 1<<20 || p[0].Committed != 2<<20 || p[0].Growth != 0 || p[0].Allocs != 0 {
			t.Fatalf("%+v", p)
		}
		v := g.r.Verdict()
		if v.Pool != &p[1] || !near(p[1].Growth, 100<<10, 0.06) || !near(p[1].Allocs, 100, 0.25) {
			t.Fatalf("%v: %+v", v, p[1])
		}
		var curve [SlotCount]float32
		if n := g.r.PoolCurve(1, &curve); n != SlotCount || curve[SlotCount-1] != float32(leaky.InUse) {
			t.Errorf("%d slots are known, the last is %v", n, curve[SlotCount-1])
		}
	})
}

func TestPools_FollowWhatIsRegisteredAndRemoved(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	var books [4]memory.Stats
	pools := make([]*pool, 4)
	for i := range pools {
		books[i] = memory.Stats{InUse: uint64(i+1) << 10, Committed: 1 << 20, Allocs: 1000}
		pools[i] = &pool{&books[i]}
		g.m.AddPool(fmt.Sprint("pool ", i), pools[i])
	}
	g.run(1, nil)
	g.m.RemovePool(pools[1])
	g.run(1, nil)
	var curve [SlotCount]float32
	if n := g.r.PoolCurve(1, &curve); n < 40 || curve[SlotCount-40] != 3<<10 {
		t.Errorf("of pool 2 %d slots are known, with %v", n, curve[SlotCount-40])
	}
	names := ""
	for _, p := range g.r.Pools() {
		names += fmt.Sprint(p.Name, " ", p.InUse>>10, " ", p.Allocs, "; ")
	}
	if want := "pool 0 1 0; pool 2 3 0; pool 3 4 0; "; names != want {
		t.Errorf("%s, want %s", names, want)
	}
	// Another pool of the same name, whose counts begin anew, has not freed what was never there.
	books[0] = memory.Stats{Allocs: 3, Failures: 1}
	g.run(1, nil)
	if p := g.r.Pools()[0]; p.Allocs != 0 || p.Most != 0 || p.Failures != 0 || p.Refused != 1 {
		t.Errorf("%+v", p)
	}
	for i := range MostPools {
		fake(g.m, fmt.Sprint("more ", i), &memory.Stats{})
	}
	g.run(1, nil)
	if n := len(g.r.Pools()); n != MostPools {
		t.Errorf("%d pools are watched", n)
	}
}

// A pool is a fake that can be removed.
type pool struct{ s *memory.Stats }

func (p *pool) Stats() memory.Stats { return *p.s }
func (p *pool) Reset()              {}
func (p *pool) Close() error        { return nil }

func TestResume_WhatHappenedUnseenIsNotOneFrame(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	ai := g.tag("ai")
	var s memory.Stats
	fake(g.m, "p", &s)
	g.run(50, memtest.Leak(t, ai, 100<<10, 1024))
	if g.r.Rows()[tiers.Slab].Growth == 0 {
		t.Fatal("nothing grows")
	}
	for range 500 { // nobody looks
		if _, err := ai.Alloc(1024, 8); err != nil {
			t.Fatal(err)
		}
	}
	s = memory.Stats{Allocs: 500, InUse: 1 << 20, Committed: 1 << 20, Live: 500}
	g.r.Resume() // with a clock that stood meanwhile
	g.run(0.3, nil)
	if g := g.r.Rows()[tiers.Slab].Growth; g != 0 {
		t.Errorf("by %.0f bytes a second, as before", g)
	}
	g.now = g.now.Add(3 * time.Second)
	g.r.Resume()
	g.run(11, nil)
	if w := g.r.Worst(); w.Took > 20*time.Millisecond || w.Rows[tiers.Slab].Allocs != 0 {
		t.Errorf("worst: %+v", w)
	}
	slab := g.r.Rows()[tiers.Slab]
	if slab.Most != 0 || slab.Growth != 0 || slab.InUse < 500<<10 || g.r.Pools()[0].Most != 0 || g.r.Pools()[0].InUse != 1<<20 {
		t.Errorf("%+v", slab)
	}
}

func TestTick_TheFrameMemoryOfTicksThatAreNotDrawnCounts(t *testing.T) {
	g := newGame(t, 5, tiers.Config{})
	must(t, g.m.BeginFrame())
	room := float64(g.m.Frame().Available())
	must(t, g.m.EndFrame())
	for i := range 40 {
		for tick := range 12 {
			must(t, g.m.BeginFrame())
			if tick == 3 {
				if _, err := g.m.Frame().Alloc(uintptr(room/2), 8); err != nil {
					t.Fatal(err)
				}
			}
			g.r.Tick()
			if tick == 11 {
				g.now = g.now.Add(time.Second / 5)
				g.r.Frame()
			}
			must(t, g.m.EndFrame())
		}
		if v := g.r.Verdict(); i > 5 && !near(v.Frame, 0.5, 0.01) {
			t.Fatalf("%.3f of the frame was used", v.Frame)
		}
	}
}

func TestUnmark_TakesBothMarksBack(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	g.run(0.1, nil)
	if g.r.Marked(A) || g.r.Marked(B) {
		t.Error("marked from the beginning")
	}
	g.r.Mark(A)
	g.r.Mark(B)
	if !g.r.Marked(A) || !g.r.Marked(B) {
		t.Error("not marked")
	}
	g.r.Unmark()
	if _, _, ok := g.r.Changes(nil); ok || g.r.Marked(A) || g.r.Marked(B) {
		t.Error("still marked")
	}
}

// What the driver takes as it warms up does not hide the tier that leaks, nor does the leak hide it.
func TestVerdict_ATierThatGrowsIsNamedBeforeWhatGrowsBeside(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	g.run(50, memtest.Leak(t, g.tag("ai"), 100<<10, 1024))
	for k, growth := range map[int]float64{restRow: 1 << 20, goRow: 2 << 20} {
		g.r.rows[k].InUse, g.r.rows[k].Growth = 100<<20, growth
	}
	g.r.judge()
	if v := g.r.Verdict(); v.Growing == nil || v.Growing.Tier != tiers.Slab || v.Growing.Kind != TierRow || v.Beside != &g.r.rows[goRow] {
		t.Errorf("%v", v)
	}
	g.r.rows[tiers.Slab].Growth = 0
	g.r.judge()
	if v := g.r.Verdict(); v.Growing != &g.r.rows[goRow] || v.Beside != nil {
		t.Errorf("%v", v)
	}
	// A hundred MiB that rise by some KiB a second are not reported.
	g.r.rows[goRow].Growth, g.r.rows[restRow].Growth = 15<<10, 49<<10
	g.r.judge()
	if v := g.r.Verdict(); v.Growing != nil || v.Beside != nil {
		t.Errorf("%v", v)
	}
}

func TestRows_APoolThatIsRemovedTakesItsCountsAlong(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	books := memory.Stats{InUse: 1 << 10, Committed: 1 << 20, Allocs: 1000, Frees: 900, Failures: 3, Live: 100}
	p := &pool{&books}
	g.tag("ai").AddPool("p", p)
	g.run(2, nil)
	g.m.RemovePool(p)
	g.run(2, nil)
	for _, w := range g.r.Rows()[:goRow] {
		if w.Most > 0 || w.Allocs+w.Frees+w.Churn > 0 || w.Failures > 0 {
			t.Errorf("%+v", w)
		}
	}
	for _, w := range g.r.Rows()[firstTag:] {
		if w.Most > 1000 || w.Failures > 3 {
			t.Errorf("%+v", w)
		}
	}
}

// The one that grows is named in every frame, however many others are not watched.
func TestPools_MoreThanAreWatchedDisturbNothing(t *testing.T) {
	testenv.Long(t)
	g := newGame(t, 60, tiers.Config{})
	var leaky memory.Stats
	fake(g.m, "leaky", &leaky)
	for i := range MostPools {
		fake(g.m, fmt.Sprint("more ", i), &memory.Stats{})
	}
	play := func(float64) { leaky.InUse, leaky.Allocs = leaky.InUse+1024, leaky.Allocs+1 }
	g.run(50, play)
	for range 60 {
		g.run(1.0/60, play)
		if v := g.r.Verdict(); v.Pool == nil || v.Pool.Name != "leaky" || len(g.r.Pools()) != MostPools {
			t.Fatalf("after %d frames, of %d pools: %v", g.n, len(g.r.Pools()), v)
		}
	}
}

// The first Frame after a long pause has no measured frame in its window.
func TestResume_RatesFromBeforeALongPauseEnd(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	ai := g.tag("ai")
	var s memory.Stats
	fake(g.m, "p", &s)
	g.run(3, func(float64) {
		must1(t, ai, 1024)
		s.Allocs++
		s.Frees++
	})
	if g.r.Rows()[tiers.Slab].Allocs == 0 || g.r.Pools()[0].Allocs == 0 {
		t.Fatal("there are no rates")
	}
	g.now = g.now.Add(time.Hour)
	g.r.Resume()
	g.r.Frame()
	if w, p := g.r.Rows()[tiers.Slab], g.r.Pools()[0]; w.Allocs != 0 || w.Churn != 0 || p.Allocs != 0 || p.Frees != 0 {
		t.Errorf("%.0f and %.0f allocations a second, an hour ago", w.Allocs, p.Allocs)
	}
}
