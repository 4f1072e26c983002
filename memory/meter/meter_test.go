package meter

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
)

// A game is a manager, its meter, and a clock that the test winds.
type game struct {
	t   testing.TB
	m   *tiers.Manager
	r   *Meter
	now time.Time
	hz  float64
	n   int // frames
}

func newGame(t testing.TB, hz float64, cfg tiers.Config) *game {
	t.Helper()
	cfg.GC.Keep, cfg.Tags = true, true
	m, err := tiers.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	g := &game{t: t, m: m, now: time.Unix(1000, 0), hz: hz}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	if g.r, err = New(m, Config{Now: func() time.Time { return g.now }}); err != nil {
		t.Fatal(err)
	}
	must(t, m.BeginLevel())
	return g
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run plays for so many seconds; play is called in each frame with the time that it takes.
func (g *game) run(seconds float64, play func(dt float64)) {
	g.t.Helper()
	for range int(seconds*g.hz + 0.5) {
		must(g.t, g.m.BeginFrame())
		g.now = g.now.Add(time.Duration(1e9 / g.hz))
		if play != nil {
			play(1 / g.hz)
		}
		g.r.Frame()
		must(g.t, g.m.EndFrame())
		g.n++
	}
	must(g.t, g.r.Check())
}

func (g *game) tag(name string) *tiers.Tag {
	g.t.Helper()
	tag, err := g.m.Tag(name)
	must(g.t, err)
	return tag
}

var rates = []float64{5, 30, 60, 144, 240}

func atEveryRate(t *testing.T, f func(t *testing.T, hz float64)) {
	for _, hz := range rates {
		if testenv.Brief() && hz != 5 && hz != 60 {
			continue // a million frames under the race detector
		}
		t.Run(fmt.Sprintf("%g Hz", hz), func(t *testing.T) { f(t, hz) })
	}
}

func near(got, want, by float64) bool { return got >= want*(1-by) && got <= want*(1+by) }

func TestVerdict_ALeakHasItsRateWhateverTheFrameRate(t *testing.T) {
	atEveryRate(t, func(t *testing.T, hz float64) {
		g := newGame(t, hz, tiers.Config{})
		ai := g.tag("ai")
		g.tag("sound")
		leak := memtest.Leak(t, ai, 100<<10, 1024)
		g.run(50, leak)
		for range 40 { // at any moment from now on
			g.run(0.2, leak)
			v := g.r.Verdict()
			if v.Growing == nil || v.Growing.Tier != tiers.Slab || v.Tag == nil || v.Tag.Name != "ai" {
				t.Fatalf("after %d frames: %v", g.n, v)
			}
			if !near(v.Tag.Growth, 100<<10, 0.03) || !near(v.Growing.Growth, 100<<10, 0.1) {
				t.Fatalf("grows by %.0f and %.0f bytes a second, not %d", v.Growing.Growth, v.Tag.Growth, 100<<10)
			}
		}
	})
}

// A browser calls a page in the background once a second: the judgements are as many a second as in front.
func TestVerdict_ALeakIsNamedInTimeAtAFrameASecond(t *testing.T) {
	for _, hz := range []float64{0.5, 1} {
		g := newGame(t, hz, tiers.Config{})
		leak := memtest.Leak(t, g.tag("ai"), 100<<10, 1024)
		g.run(60, nil)
		g.run(45, leak)
		if v := g.r.Verdict(); v.Tag == nil || v.Growing == nil {
			t.Errorf("%g Hz: after 45 s %v", hz, v)
		}
	}
}

// In levels as short as these the history never reaches the length that a judgement needs: see the package comment.
func TestVerdict_InLevelsOf40SecondsEndLevelAloneReports(t *testing.T) {
	for length, want := range map[float64]bool{40: false, 46: true} {
		g := newGame(t, 5, tiers.Config{})
		leak := memtest.Leak(t, g.tag("ai"), 100<<10, 1024)
		for range 3 {
			named := false
			g.run(length, func(dt float64) {
				leak(dt)
				named = named || g.r.Verdict().Tag != nil
			})
			if leaks, err := g.m.EndLevel(); err != nil || !leaks.Any() || named != want {
				t.Errorf("a level of %g s: named: %v, %v, %v", length, named, leaks, err)
			}
			must(t, g.m.BeginLevel())
		}
	}
}

func TestVerdict_ALeakThatEndsIsNotNamedForLong(t *testing.T) {
	atEveryRate(t, func(t *testing.T, hz float64) {
		g := newGame(t, hz, tiers.Config{})
		g.run(50, memtest.Leak(t, g.tag("ai"), 1<<20, 16<<10))
		if g.r.Verdict().Tag == nil {
			t.Error("the leak is not named")
		}
		g.run(40, nil)
		if v := g.r.Verdict(); v.Tag != nil {
			t.Errorf("40 s after its end: %v", v)
		}
	})
}

func TestVerdict_WhatIsFilledOnceDoesNotGrow(t *testing.T) {
	atEveryRate(t, func(t *testing.T, hz float64) {
		g := newGame(t, hz, tiers.Config{})
		tag := g.tag("ground")
		g.run(3, nil)
		filled := false
		for range 60 {
			g.run(0.2, func(float64) {
				if filled = filled || must1(t, tag, 4<<20); !filled {
					t.Fatal("not filled")
				}
			})
			if v := g.r.Verdict(); v.Tag != nil || v.Growing != nil && v.Growing.Kind == TierRow {
				t.Fatalf("a fill is taken for growth: %v", v)
			}
			if w := g.r.Verdict().Largest; w.Kind == TierRow && w.Tier != tiers.Large {
				t.Fatalf("largest is %s", w.Name)
			}
		}
	})
}

// must1 allocates once.
func must1(t *testing.T, a memory.Allocator, size uintptr) bool {
	_, err := a.Alloc(size, 16)
	must(t, err)
	return true
}

func TestVerdict_WhatBreathesDoesNotGrow(t *testing.T) {
	atEveryRate(t, func(t *testing.T, hz float64) {
		g := newGame(t, hz, tiers.Config{})
		tag := g.tag("waves")
		var held []unsafe.Pointer
		at := 0.0
		for range 80 {
			g.run(0.2, func(dt float64) {
				at += dt
				for want := 100 + int(at/1.7)%2*200; len(held) < want; {
					p, err := tag.Alloc(1000, 16)
					must(t, err)
					held = append(held, p)
				}
				for want := 100 + int(at/1.7)%2*200; len(held) > want; held = held[:len(held)-1] {
					g.m.Free(held[len(held)-1], 1000)
				}
			})
			if v := g.r.Verdict(); v.Tag != nil || v.Growing != nil && v.Growing.Kind == TierRow {
				t.Fatalf("after %.1f s: %v", at, v)
			}
		}
	})
}

func TestVerdict_ALeakInBurstsIsSeen(t *testing.T) {
	atEveryRate(t, func(t *testing.T, hz float64) {
		g := newGame(t, hz, tiers.Config{})
		g.run(60, memtest.Leak(t, g.tag("saves"), 256<<10, 512<<10)) // one block every two seconds
		if v := g.r.Verdict(); v.Tag == nil || !near(v.Tag.Growth, 256<<10, 0.1) {
			t.Errorf("half a MiB every two seconds: %v", v)
		}
	})
}

func TestVerdict_ANewLevelBeginsAnew(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	g.run(50, memtest.Leak(t, g.tag("ai"), 1<<20, 16<<10))
	if g.r.Verdict().Tag == nil {
		t.Fatal("a leak is not seen")
	}
	if _, err := g.m.EndLevel(); err != nil {
		t.Fatal(err)
	}
	g.run(0.5, nil)
	if v := g.r.Verdict(); v.Tag != nil || v.Growing != nil && v.Growing.Kind == TierRow {
		t.Errorf("after the level's end: %v", v)
	}
}

// What has no history long enough is not known, and not "nothing".
func TestVerdict_IsYoungForHalfAMinute(t *testing.T) {
	g := newGame(t, 30, tiers.Config{})
	for what, again := range map[string]func(){
		"a new level": func() {
			_, err := g.m.EndLevel()
			must(t, err)
		},
		"Resume":  func() { g.r.Resume() },
		"a sleep": func() { g.now = g.now.Add(time.Minute) },
	} {
		again()
		if g.run(30, nil); !g.r.Verdict().Young {
			t.Errorf("30 s after %s: not young", what)
		}
		if g.run(2, nil); g.r.Verdict().Young {
			t.Errorf("32 s after %s: young", what)
		}
	}
}

func TestVerdict_ABudgetNearlyReachedIsCommittedNotInUse(t *testing.T) {
	atEveryRate(t, func(t *testing.T, hz float64) {
		g := newGame(t, hz, tiers.Config{Budget: [tiers.Count]uintptr{tiers.Large: 4 << 20}})
		var held []unsafe.Pointer
		g.run(1, func(float64) {
			for len(held) < 7 {
				p, err := g.m.Alloc(500<<10, 16)
				must(t, err)
				held = append(held, p)
			}
		})
		g.run(1, func(float64) {
			for ; len(held) > 1; held = held[:len(held)-1] {
				g.m.Free(held[len(held)-1], 500<<10)
			}
		})
		v := g.r.Verdict()
		if v.Tight == nil || v.Tight.Tier != tiers.Large || v.Tight.Tight() < 0.8 || v.Tight.InUse > 1<<20 {
			t.Fatalf("%v: %+v", v, v.Tight)
		}
		g.run(1, func(float64) { _, _ = g.m.Alloc(3<<20, 16) })
		if v := g.r.Verdict(); v.Refused == nil || v.Refused.Tier != tiers.Large {
			t.Errorf("refusals: %v", v)
		}
		g.run(12, nil)
		if v := g.r.Verdict(); v.Refused != nil {
			t.Errorf("refusals of before the window: %v", v)
		}
	})
}

func TestWorst_IsTheSpikeWithWhatItDid(t *testing.T) {
	atEveryRate(t, func(t *testing.T, hz float64) {
		g := newGame(t, hz, tiers.Config{})
		ai := g.tag("ai")
		uploads := 0.0
		g.r.Monitor("uploads", "bytes", func() float64 { return uploads })
		timer := g.r.Timer("path finding")
		g.run(2, nil)
		spike := 0
		g.run(600/hz, func(float64) {
			uploads = 0
			if g.n == spike+int(2*hz)+300 {
				timer.Start()
				g.now = g.now.Add(80 * time.Millisecond)
				timer.Stop()
				uploads = 1 << 20
				for range 300 {
					must1(t, ai, 64)
				}
			}
		})
		g.run(min(5, 0.8*300/hz), nil)
		f := g.r.Worst()
		if 300/hz > 9 {
			if f != nil && f.Took > 150*time.Millisecond && hz > 10 {
				t.Errorf("a spike from before the window is there still: %v", f.Took)
			}
			return
		}
		slab := f.Rows[tiers.Slab]
		if !near(f.Took.Seconds(), 0.08+1/hz, 0.01) || slab.Allocs != 300 || f.Monitors[0] != 1<<20 || f.Timers[0] != 80*time.Millisecond {
			t.Errorf("worst frame: %v, slab %+v, uploads %v, timers %v", f.Took, slab, f.Monitors, f.Timers)
		}
		tags := g.r.Rows()
		for i := range tags {
			if tags[i].Name == "ai" && (f.Rows[i].Allocs != 300 || tags[i].Most != 300) {
				t.Errorf("the tag: %+v, most %d", f.Rows[i], tags[i].Most)
			}
		}
		number := g.r.Keep().Number
		g.run(12, nil)
		if f := g.r.Worst(); f.Took > time.Duration(1.01e9/hz) {
			t.Errorf("twelve seconds on, the worst frame takes %v", f.Took)
		}
		if k := g.r.Kept(); k.Number != number || k.Rows[tiers.Slab].Allocs != 300 || k.Timers[0] != 80*time.Millisecond {
			t.Errorf("the kept frame has changed: %+v", k)
		}
	})
}

func TestWorst_HasTheCollectionsOfItsFrameAlone(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	runtime.GC()
	g.run(1, nil)
	before := g.r.Snapshot().Go.Cycles
	g.run(1.0/60, func(float64) {
		runtime.GC()
		runtime.GC()
		g.now = g.now.Add(100 * time.Millisecond)
	})
	after := g.r.Snapshot().Go.Cycles
	g.run(0.3, nil)
	if f := g.r.Worst(); before == 0 || after < before+2 || f.Collections != after-before {
		t.Errorf("%d collections, %d before and %d behind the frame", f.Collections, before, after)
	}
}

func TestRows_AllocationsAreASecondsAndChurnIsWhatDiedYoung(t *testing.T) {
	atEveryRate(t, func(t *testing.T, hz float64) {
		g := newGame(t, hz, tiers.Config{})
		young, old := g.tag("young"), g.tag("old")
		var held []unsafe.Pointer
		g.run(6, func(float64) {
			for range 7 {
				p, err := young.Alloc(100, 16)
				must(t, err)
				g.m.Free(p, 100)
			}
			p, err := old.Alloc(100, 16)
			must(t, err)
			if held = append(held, p); len(held) > 100 {
				g.m.Free(held[0], 100)
				held = held[1:]
			}
		})
		for _, w := range g.r.Rows() {
			switch {
			case w.Name == "young" && (!near(w.Allocs, 7*hz, 0.02) || !near(w.Churn, 7*hz, 0.02) || w.Most != 7):
				t.Errorf("young: %+v", w)
			case w.Name == "old" && (!near(w.Allocs, hz, 0.02) || w.Most != 1):
				t.Errorf("old: %+v", w)
			}
		}
	})
}

func TestTimes_AreOfTheWindow(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	g.run(5, nil)
	g.now = g.now.Add(100 * time.Millisecond)
	g.run(5, nil)
	v := g.r.Times()
	if !near(v.Rate, 59.4, 0.02) || !near(v.Median.Seconds(), 1.0/60, 0.07) || !near(v.Most.Seconds(), 0.1167, 0.01) || v.Late != 1 {
		t.Errorf("%+v", v)
	}
	g.run(12, nil)
	if v := g.r.Times(); !near(v.Most.Seconds(), 1.0/60, 0.01) || v.Late != 0 || !near(v.P99.Seconds(), 1.0/60, 0.07) {
		t.Errorf("twelve seconds on: %+v", v)
	}
}

func TestChanges_AreSinceTheMarksByTag(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	ai := g.tag("ai")
	g.run(1, nil)
	if _, _, ok := g.r.Changes(nil); ok {
		t.Error("changes without a mark")
	}
	g.r.Mark(A)
	g.run(1, memtest.Leak(t, ai, 60<<10, 1024))
	late := g.tag("late") // it has no row at mark A
	g.run(1, memtest.Leak(t, late, 60<<10, 1024))
	check := func(when string, wantLate int64) {
		t.Helper()
		got := map[string]Change{}
		changes, _, ok := g.r.Changes(nil)
		for _, c := range changes {
			got[g.r.Rows()[c.Row].Name] = c
		}
		if !ok || got["ai"].Blocks != 60 || got["late"].Blocks != wantLate || got["untagged"] != (Change{}) ||
			got["ai"].Bytes != 60<<10 || got["late"].Bytes != wantLate<<10 {
			t.Errorf("%s: %+v", when, got)
		}
	}
	check("until now", 60)
	g.r.Mark(B)
	g.run(1, memtest.Leak(t, late, 60<<10, 1024))
	check("until mark B", 60)
	g.r.Mark(A)
	held, err := late.Alloc(1024, 16)
	must(t, err)
	g.run(0.1, nil)
	g.r.Mark(A)
	g.m.Free(held, 1024)
	g.run(0.1, nil)
	if changes, _, _ := g.r.Changes(nil); !slices.ContainsFunc(changes, func(c Change) bool {
		return g.r.Rows()[c.Row].Name == "late" && c.Bytes == -1024 && c.Blocks == -1
	}) {
		t.Errorf("a block that was freed: %+v", changes)
	}
	g.r.Mark(A)
	g.run(0.5, nil)
	if changes, took, ok := g.r.Changes(nil); !ok || !near(took.Seconds(), 0.5, 0.05) {
		t.Errorf("mark A takes back B: %v, %v", changes, took)
	}
	for i, f := range []func(){func() { g.r.Mark(2) }, func() { g.r.Mark(-1) }, func() { g.r.Marked(2) }, func() { g.r.Marked(-1) }} {
		func() {
			defer func() {
				if e, ok := recover().(*memory.Misuse); !ok || e.Op != []string{"Mark", "Marked"}[i/2] {
					t.Errorf("call %d with another mark: %v", i, e)
				}
			}()
			f()
		}()
	}
	g.r.Mark(A) // what changes its size alone is a change, too
	g.r.was[tiers.Large].inUse, g.r.was[tiers.Pools].live = 77, 88
	if changes, _, _ := g.r.Changes(nil); !slices.Equal(changes, []Change{{Row: int(tiers.Pools), Blocks: 88}, {Row: int(tiers.Large), Bytes: 77}}) {
		t.Errorf("%+v", changes)
	}
}

func TestRows_ATagThatIsNewKeepsTheOthersFigures(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	leak := memtest.Leak(t, g.m, 100<<10, 1024) // of no tag
	g.run(50, leak)
	for _, name := range []string{"a", "b"} {
		g.tag(name)
	}
	g.run(0.3, leak)
	if v := g.r.Verdict(); v.Tag == nil || v.Tag.Name != noTag || !near(v.Tag.Growth, 100<<10, 0.05) {
		t.Errorf("%v", v)
	}
	if n := len(g.r.Rows()); n != firstTag+3 || g.r.Rows()[firstTag].Name != "a" || g.r.Rows()[firstTag+1].Name != "b" {
		t.Errorf("%d rows", n)
	}
}

func TestFrame_AllocatesNothing(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	tag := g.tag("ai")
	g.r.Monitor("n", "", func() float64 { return 1 })
	g.r.Timer("ai")
	g.run(3, nil)
	if n := testing.AllocsPerRun(2000, func() {
		_ = g.m.BeginFrame()
		g.now = g.now.Add(time.Second / 60)
		p, _ := tag.Alloc(64, 16)
		g.m.Free(p, 64)
		g.r.Frame()
		_ = g.m.EndFrame()
	}); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

func TestFrame_ALongSleepIsNoGrowthAndEnds(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	leak := memtest.Leak(t, g.tag("ai"), 100<<10, 1024)
	g.run(50, leak)
	if g.r.Verdict().Tag == nil {
		t.Fatal("the leak is not named")
	}
	g.now = g.now.Add(200 * 365 * 24 * time.Hour) // seconds of which none may be counted one by one
	g.run(1, nil)
	if v := g.r.Verdict(); v.Tag != nil {
		t.Errorf("behind a sleep: %v", v)
	}
	g.run(50, leak)
	if v := g.r.Verdict(); v.Tag == nil || !near(v.Tag.Growth, 100<<10, 0.05) {
		t.Errorf("50 s after a sleep: %v", v)
	}
}

// Whatever the window, a sleep is no line on which figures grew, and frames of seconds are no sleep.
func TestFrame_SleepsAreTenSecondsWhateverTheWindow(t *testing.T) {
	for _, window := range []time.Duration{time.Second, 10 * time.Minute} {
		g := newGame(t, 60, tiers.Config{})
		var err error
		g.r, err = New(g.m, Config{Window: window, Now: func() time.Time { return g.now }})
		must(t, err)
		tag := g.tag("ground")
		g.run(5, nil)
		must1(t, tag, 4<<20)
		g.now = g.now.Add(100 * time.Second)
		for range 30 {
			if g.run(1, nil); g.r.Verdict().Tag != nil {
				t.Fatalf("window %v: a sleep of 100 s is taken for growth: %v", window, g.r.Verdict())
			}
		}
		g.hz = 0.5
		g.run(120, memtest.Leak(t, tag, 100<<10, 1024))
		if v := g.r.Verdict(); v.Tag == nil || !near(v.Tag.Growth, 100<<10, 0.05) {
			t.Errorf("window %v: a leak at frames of two seconds: %v", window, v)
		}
	}
}

// Hours that nobody has looked at are not counted one by one.
func TestResume_HoursUnseenAreNoHistory(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	tag := g.tag("ground")
	g.run(50, nil)
	for range 3 {
		must1(t, tag, 1<<20)
		g.now = g.now.Add(5 * time.Hour)
		g.r.Resume()
		if g.run(10, nil); g.r.Verdict().Tag != nil {
			t.Fatalf("unseen: %v", g.r.Verdict())
		}
	}
	if known := g.r.series[0].floor.seconds.known; known > 12 {
		t.Errorf("%d seconds are known after ten", known)
	}
}

func TestNew_RefusesWhatCannotBe(t *testing.T) {
	m, err := tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}})
	must(t, err)
	defer m.Close()
	for _, cfg := range []Config{{Window: time.Millisecond}, {Window: time.Hour}, {Window: -1}, {Frame: -1}} {
		if _, err := New(m, cfg); err == nil {
			t.Errorf("%+v is taken", cfg)
		}
	}
	if _, err := New(nil, Config{}); err == nil {
		t.Error("a nil manager is taken")
	}
}

func TestClosed_AManagerThatIsGoneIsReadAsEmpty(t *testing.T) {
	m, err := tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}})
	must(t, err)
	r, err := New(m, Config{})
	must(t, err)
	r.Frame()
	must(t, m.Close())
	r.Frame()
	r.Frame()
	must(t, r.Check())
	r.settle()
	if v := r.Verdict(); v.Frame != 0 || v.Tight != nil || v.Growing != nil && v.Growing.Kind == TierRow {
		t.Errorf("%+v", v)
	}
}

func BenchmarkFrame(b *testing.B) {
	for _, tags := range []int{0, 16, 250} {
		b.Run(fmt.Sprintf("tags=%d", tags), func(b *testing.B) {
			g := newGame(b, 60, tiers.Config{})
			for i := range tags {
				g.tag(fmt.Sprint("tag ", i))
			}
			for b.Loop() {
				g.now = g.now.Add(time.Second / 60)
				g.r.Frame()
			}
		})
	}
}

func TestCurve_BeforeTheFirstFrameNothingIsKnown(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	var curve [SlotCount]float32
	if n := g.r.Curve(0, &curve); n != 0 {
		t.Errorf("%d slots are known", n)
	}
	if g.run(0.02, nil); g.r.Curve(0, &curve) != 1 {
		t.Error("a frame has not made one known")
	}
}
