package meter

import (
	"fmt"
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tiers"
)

func TestSeries_ACurveIsTheMostOfEachSlotOldestFirst(t *testing.T) {
	var s series
	for i := range SlotCount + 5 {
		s.set(float64(1000+i), 0)
		s.set(float64(i), 0) // less, within the slot
		s.cross(float64(i))
	}
	var curve [SlotCount]float32
	s.curve(&curve)
	for k, got := range curve[:SlotCount-1] {
		if want := float32(1000 + 6 + k); got != want {
			t.Fatalf("slot %d is %v, want %v", k, got, want)
		}
	}
	if curve[SlotCount-1] != SlotCount+4 {
		t.Errorf("the present slot is %v", curve[SlotCount-1])
	}
}

// Check names each of its invariants where it is broken, alone.
func TestCheck_NamesWhatIsCorrupt(t *testing.T) {
	for name, corrupt := range map[string]func(r *Meter){
		"figures":            func(r *Meter) { r.series = r.series[1:] },
		"books":              func(r *Meter) { r.was = r.was[1:] },
		"rows of a frame":    func(r *Meter) { r.kept.Rows = r.kept.Rows[1:] },
		"monitors":           func(r *Meter) { r.worst[3].Monitors = nil },
		"timers":             func(r *Meter) { r.frame.Timers = nil },
		"sums":               func(r *Meter) { r.sums[9].rows = nil },
		"slot below":         func(r *Meter) { r.series[1].slot = -1 },
		"slot beyond":        func(r *Meter) { r.series[1].slot = SlotCount },
		"floor":              func(r *Meter) { r.series[1].floor.seconds.known = -1 },
		"pools":              func(r *Meter) { r.notes = nil },
		"the curve of pools": func(r *Meter) { r.notes[0].series.slot = -1 },
		"part":               func(r *Meter) { r.part = -1 },
		"slot":               func(r *Meter) { r.slot = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGame(t, 60, tiers.Config{})
			g.r.Monitor("n", "", func() float64 { return 1 })
			g.r.Timer("ai")
			fake(g.m, "p", &memory.Stats{})
			g.run(3, nil)
			if corrupt(g.r); g.r.Check() == nil {
				t.Error("Check finds nothing")
			}
		})
	}
}

// What a frame did counts for as long as its tenth of the window is in it: one of 2.5 s until 12 s.
func TestWindow_EndsWhereItsTenthEnds(t *testing.T) {
	g := newGame(t, 100, tiers.Config{Budget: [tiers.Count]uintptr{tiers.Large: 4 << 20}})
	ai := g.tag("ai")
	var s memory.Stats
	fake(g.m, "p", &s)
	g.run(2.5, nil)
	g.run(0.01, func(float64) {
		for range 30 {
			must1(t, ai, 64)
		}
		_, _ = g.m.Alloc(5<<20, 16)
		s.Allocs, s.Failures = 40, 2
		g.now = g.now.Add(100 * time.Millisecond)
	})
	slab, large, pool := &g.r.rows[tiers.Slab], &g.r.rows[tiers.Large], func() Row { return g.r.Pools()[0] }
	look := func(when string, in bool) {
		t.Helper()
		v := g.r.Times()
		if (slab.Most == 30) != in || (large.Failures == 1) != in || (pool().Most == 40) != in || (pool().Failures == 2) != in ||
			(v.Late == 1) != in || (g.r.Worst().Took > 100*time.Millisecond) != in || (v.Most > 100*time.Millisecond) != in {
			t.Errorf("%s: slab %+v, large %+v, pool %+v, %+v, worst %v", when, *slab, *large, pool(), v, g.r.Worst().Took)
		}
		if !in && slab.Most+large.Failures+pool().Most+pool().Failures+uint64(v.Late) > 0 {
			t.Errorf("%s: slab %+v, large %+v, pool %+v, %+v", when, *slab, *large, pool(), v)
		}
	}
	g.run(0.3, nil)
	look("at 2.9 s", true)
	g.run(9, nil)
	look("at 11.9 s", true)
	g.run(0.4, nil)
	look("at 12.3 s", false)
	if large.Refused != 1 || pool().Refused != 2 {
		t.Errorf("since the beginning: large %d, pool %d", large.Refused, pool().Refused)
	}
}

// Rates are those of the last whole second, of the present one only where there is no other.
func TestRows_RatesAreOfTheLastWholeSecond(t *testing.T) {
	g := newGame(t, 100, tiers.Config{})
	ai := g.tag("ai")
	row, pool := &g.r.rows[tiers.Slab], func() *Row { return &g.r.Pools()[0] }
	var s memory.Stats
	fake(g.m, "p", &s)
	play := func(float64) {
		p, err := ai.Alloc(64, 16)
		must(t, err)
		g.m.Free(p, 64)
		s.Allocs, s.Frees = s.Allocs+2, s.Frees+1
	}
	look := func(when string, want float64) {
		t.Helper()
		if !near(row.Allocs, want, 0.05) || !near(row.Frees, want, 0.05) || !near(row.Churn, want, 0.05) ||
			!near(pool().Allocs, 2*want, 0.05) || !near(pool().Frees, want, 0.05) {
			t.Errorf("%s: %+v, %+v", when, *row, *pool())
		}
	}
	g.run(0.9, play)
	look("in the first second", 100)
	g.run(1.1, play) // the first frame was at 0.01 s, so the third second begins at 2.01
	g.run(0.7, nil)
	look("in a second without, behind one with", 100)
	g.run(1.7, nil)
	look("behind a second without", 0)
	g.run(0.3, play)
	look("in a second with, behind one without", 0)
	g.run(0.6, nil)
	look("behind it", 30)
}

// Where a frame is longer than the part of the window before it, its own part is the last whole one.
func TestRows_RatesAreRightWhereAFrameTakesSeconds(t *testing.T) {
	g := newGame(t, 0.4, tiers.Config{}) // 2.5 s each
	ai := g.tag("ai")
	play := func(float64) {
		for range 5 {
			must1(t, ai, 64)
		}
	}
	g.run(10, play)
	for range 8 {
		if g.run(2.5, play); !near(g.r.rows[tiers.Slab].Allocs, 2, 0.01) {
			t.Errorf("%+v", g.r.rows[tiers.Slab])
		}
	}
	if g.run(2.5, nil); g.r.rows[tiers.Slab].Allocs != 0 {
		t.Errorf("without: %+v", g.r.rows[tiers.Slab])
	}
}

func TestFootprint_IsAtLeastWhatThereIsAndAtMostTwice(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	r, all := g.r, 0
	for range 60 {
		g.tag(fmt.Sprint("tag ", all))
		fake(g.m, fmt.Sprint("pool ", all), &memory.Stats{})
		all++
		g.run(0.02, nil)
		r.Mark(A)
		r.Mark(B)
		row := unsafe.Sizeof(Row{}) + unsafe.Sizeof(series{}) + uintptr(1+len(r.marks))*unsafe.Sizeof(books{}) +
			uintptr(len(r.sums))*unsafe.Sizeof(sum{}) + uintptr(len(r.records()))*unsafe.Sizeof(Delta{})
		has := unsafe.Sizeof(*r) + uintptr(len(r.rows))*row + uintptr(all)*(unsafe.Sizeof(Row{})+unsafe.Sizeof(poolBooks{})) + uintptr(all)*unsafe.Sizeof(tiers.TagStats{})
		if got := r.Footprint(); got < has || got > 2*has {
			t.Fatalf("with %d rows and %d pools it says %d bytes, and has %d", len(r.rows), len(r.pools), got, has)
		}
	}
}

func TestFrame_TheFirstJudgesNothingAndDividesByNothing(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	must1(t, g.tag("ai"), 64)
	g.run(0.02, nil)
	v := g.r.Verdict()
	if v.Late != 0 || v.Frame != 0 || v.Worst != 0 || v.Growing != nil || v.Refused != nil || g.r.Worst() != nil || g.r.Keep() != nil || g.r.Times() != (Times{}) {
		t.Errorf("%+v, %+v", v, g.r.Times())
	}
	if w := g.r.Rows()[tiers.Slab]; w.Most != 0 || w.Allocs != 0 || w.InUse == 0 || w.Live != 1 {
		t.Errorf("what was there before the first frame is that frame's: %+v", w)
	}
	g.run(1, nil)
	if v := g.r.Verdict(); v.Frame != 0 || v.Late != 0 || v.Worst == 0 {
		t.Errorf("frame memory that nobody uses: %+v", v)
	}
}

// The Go heap and the rest have no books of their own: they are what the snapshot says.
func TestRows_OfGoAndTheRestAreThoseOfTheSnapshot(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	g.run(1, nil)
	g.r.snap.Untracked, g.r.snap.Go.HeapBytes, g.r.snap.Go.HeapObjects, g.r.snap.Go.Total = 5<<20, 3<<20, 77, 9<<20
	for _, peak := range []uint64{5 << 20, 5 << 20} {
		g.r.settle()
		rest, heap := g.r.rows[restRow], g.r.rows[goRow]
		if rest.InUse != g.r.snap.Untracked || rest.Committed != rest.InUse || rest.Peak < peak || rest.Budget != 0 {
			t.Errorf("rest: %+v", rest)
		}
		if heap.InUse != g.r.snap.Go.HeapBytes || heap.Committed != 9<<20 || heap.Peak < 3<<20 || heap.Live != 77 {
			t.Errorf("Go heap: %+v", heap)
		}
		g.r.snap.Untracked, g.r.snap.Go.HeapBytes = 1<<20, 1<<20 // the peaks stay
	}
}

func TestCurve_ASpikeMovesWithTheWindowAndLeavesIt(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	var s memory.Stats
	fake(g.m, "p", &s)
	g.run(3, nil)
	s.InUse = 1 << 20
	g.run(0.1, nil)
	s.InUse = 0
	g.run(5, nil)
	var curve [SlotCount]float32
	g.r.PoolCurve(0, &curve)
	high := 0
	for _, v := range curve {
		if v > 0 {
			high++
		}
	}
	if high < 2 || high > 5 { // a slot is a 24th of a second
		t.Errorf("a spike of a tenth of a second takes %d slots", high)
	}
	g.run(11, nil)
	if g.r.PoolCurve(0, &curve); curve != [SlotCount]float32{} {
		t.Error("it is still there when the window has passed")
	}
}
