package tiers

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"testing"
)

func wantCycles(t *testing.T, when string, m *Manager, cycles, inPlay uint64) {
	t.Helper()
	if s := goStats(m); s.Cycles != cycles || s.InPlay != inPlay {
		t.Errorf("%s: %d collections, %d of them in play; want %d and %d", when, s.Cycles, s.InPlay, cycles, inPlay)
	}
}

func goStats(m *Manager) GoStats {
	var s Snapshot
	m.Snapshot(&s)
	return s.Go
}

// still is a host whose collector runs when it is told, and never else.
func still(t *testing.T) {
	t.Helper()
	host(t, 100)
	debug.SetGCPercent(-1)
	runtime.GC() // one that had begun by itself meanwhile has ended then, too
}

func TestGoStats_InPlayIsWhatNoManagerAskedFor(t *testing.T) {
	still(t)
	runtime.GC()
	a, b := paced(t, 0), paced(t, 0)
	runtime.GC()
	wantCycles(t, "before a level", a, 1, 0)
	must(t, a.BeginLevel())
	wantCycles(t, "BeginLevel", a, 1, 0)
	a.Collect()
	wantCycles(t, "its own Collect", a, 2, 0)
	b.Collect()
	wantCycles(t, "the other's Collect", a, 3, 0)
	runtime.GC()
	wantCycles(t, "the host's", a, 4, 1)
	wantCycles(t, "seen by one without a level", b, 4, 0)
	must(t, b.BeginLevel())
	runtime.GC()
	wantCycles(t, "the host's second", a, 5, 2)
	wantCycles(t, "in the level of the other, too", b, 5, 1)
	debug.SetGCPercent(math.MaxInt32) // the host turns the collector on, far enough off to stay out of this
	litter(1 << 20)
	_, err := b.EndLevel()
	must(t, err)
	wantCycles(t, "an EndLevel that is not due", a, 5, 2)
	before := goStats(a)
	_, err = a.EndLevel()
	must(t, err)
	runtime.GC()
	wantCycles(t, "after the level", a, before.Cycles+1, before.InPlay)
	must(t, a.BeginLevel())
	runtime.GC()
	wantCycles(t, "in the next level", a, before.Cycles+2, before.InPlay+1)
}

func TestGoStats_AnEndLevelsCollectionIsInNobodysPlay(t *testing.T) {
	host(t, 100)
	a, b := paced(t, 0), paced(t, 0)
	must(t, a.BeginLevel())
	must(t, b.BeginLevel())
	// Until New paces, the host's own collector may begin, and end within New.
	atA, atB := goStats(a).Cycles, goStats(b).Cycles
	litter(120 << 20)
	wantCycles(t, "in both levels", a, atA, 0)
	_, err := b.EndLevel()
	must(t, err)
	wantCycles(t, "after one", a, atA+1, 0)
	wantCycles(t, "after one", b, atB+1, 0)
	_, err = a.EndLevel()
	must(t, err)
	wantCycles(t, "the other's is not due", a, atA+1, 0)
}

func TestGoStats_ALevelThatAnErrorKeepsOpenCountsOn(t *testing.T) {
	still(t)
	m := paced(t, 0)
	must(t, m.BeginLevel())
	must(t, m.BeginFrame())
	if _, err := m.EndLevel(); err == nil {
		t.Fatal("EndLevel inside a frame")
	}
	if err := m.BeginLevel(); err == nil {
		t.Fatal("BeginLevel inside a level")
	}
	runtime.GC()
	wantCycles(t, "a level that did not end", m, 1, 1)
	must(t, m.EndFrame())
	_, err := m.EndLevel()
	must(t, err)
	if _, err := m.EndLevel(); err == nil {
		t.Fatal("EndLevel twice")
	}
	runtime.GC()
	wantCycles(t, "a level that did", m, 2, 1)
}

func TestGoStats_WithKeepGCTheyAreTheSame(t *testing.T) {
	still(t)
	cfg := small()
	cfg.KeepGC = true
	m := newManager(t, cfg)
	must(t, m.BeginLevel())
	m.Collect()
	runtime.GC()
	wantCycles(t, "KeepGC", m, 2, 1)
}

// A Snapshot while another manager collects never shows a collection that is then taken back.
func TestGoStats_InPlayOfOneWhileOthersCollect(t *testing.T) {
	still(t)
	a, b, c := paced(t, 0), paced(t, 0), paced(t, 0)
	must(t, a.BeginLevel())
	var wg sync.WaitGroup
	for _, m := range []*Manager{b, c} {
		wg.Go(func() {
			for range 20 {
				m.Collect()
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		if n := goStats(a).InPlay; n != 0 {
			t.Fatalf("%d collections in play", n)
		}
		_, err := a.EndLevel()
		must(t, err)
		must(t, a.BeginLevel())
	}
	wantCycles(t, "at the end", a, 40, 0)
	runtime.GC()
	wantCycles(t, "the host's", a, 41, 1)
}

func TestGoStats_MaxPauseIsSinceNew(t *testing.T) {
	still(t)
	for range 5 {
		runtime.GC()
	}
	m := paced(t, 0)
	if p := goStats(m).MaxPause; p != 0 {
		t.Errorf("a pause of %v s, and no collection since New", p)
	}
	m.Collect()
	if p := goStats(m).MaxPause; p <= 0 || p > 10 {
		t.Errorf("a pause of %v s", p)
	}
}

func TestGoStats_PausesAreTwoForEachCollection(t *testing.T) {
	still(t)
	runtime.GC()
	m := paced(t, 0)
	for range 3 {
		before := goStats(m).Pauses
		m.Collect()
		if n := goStats(m).Pauses - before; n != 2 {
			t.Errorf("%d stops of the world for a collection", n)
		}
	}
	if n := goStats(m).Pauses; n != 6 {
		t.Errorf("%d stops of the world since New", n)
	}
}

func TestLongest_IsTheLastBucketThatGrew(t *testing.T) {
	h := &metrics.Float64Histogram{Counts: []uint64{4, 4, 4, 4}, Buckets: []float64{math.Inf(-1), 1, 2, 3, math.Inf(1)}}
	for _, c := range []struct {
		before []uint64
		want   float64
	}{
		{[]uint64{4, 4, 4, 4}, 0},
		{[]uint64{3, 4, 4, 4}, 1},
		{[]uint64{3, 3, 4, 4}, 2},
		{[]uint64{4, 4, 3, 4}, 3},
		{[]uint64{0, 0, 0, 3}, 3}, // open above: its lower edge
		{[]uint64{0, 0, 0, 0}, 3},
	} {
		if got := longest(h, c.before); got != c.want {
			t.Errorf("before %v: %v, want %v", c.before, got, c.want)
		}
	}
}

// Each figure against the runtime's other way to say it.
func TestGoStats_AgreeWithMemStats(t *testing.T) {
	still(t)
	runtime.GC()
	m := paced(t, 0)
	hold := make([]*[64]byte, 20_000)
	for i := range hold {
		hold[i] = new([64]byte)
	}
	var s Snapshot
	m.Snapshot(&s)
	var r runtime.MemStats
	runtime.ReadMemStats(&r)
	near := func(name string, got, want, slack uint64) {
		t.Helper()
		if got+slack < want || got > want+slack {
			t.Errorf("%s is %d, the runtime says %d", name, got, want)
		}
	}
	near("HeapBytes", s.Go.HeapBytes, r.HeapAlloc, 1<<20)
	near("HeapObjects", s.Go.HeapObjects, r.HeapObjects, 5000)
	near("Total", s.Go.Total, r.Sys, 4<<20)
	before := s.Go
	more := make([]*[64]byte, 20_000)
	for i := range more {
		more[i] = new([64]byte)
	}
	m.Snapshot(&s)
	near("TotalObjects since", s.Go.TotalObjects-before.TotalObjects, 20_000, 2000)
	near("HeapObjects since", s.Go.HeapObjects-before.HeapObjects, 20_000, 2000)
	runtime.KeepAlive(hold)
	clear(more)
	hold = nil
	runtime.GC()
	m.Snapshot(&s)
	if s.Go.HeapObjects > before.HeapObjects-15_000 || s.Go.TotalObjects < before.TotalObjects+20_000 {
		t.Errorf("after a collection %d objects of %d, %d in all of %d", s.Go.HeapObjects, before.HeapObjects, s.Go.TotalObjects, before.TotalObjects)
	}
	known := metrics.All()
	for _, name := range slices.Concat(metricNames[:], heapMetrics[:], []string{"/gc/cycles/forced:gc-cycles"}) {
		if !slices.ContainsFunc(known, func(d metrics.Description) bool { return d.Name == name }) {
			t.Errorf("the runtime does not know %s", name)
		}
	}
}

func TestGoStats_SnapshotDoesNotAllocate(t *testing.T) {
	host(t, 100)
	m := paced(t, 0)
	var s Snapshot
	m.Snapshot(&s)
	if n := testing.AllocsPerRun(100, func() { m.Snapshot(&s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The first Snapshot makes the array of its tags, at once and as large as it is needed; the others use it.
func TestSnapshot_ItsTagsAreMadeOnceAndNoLargerThanNeeded(t *testing.T) {
	const tags = 37
	m := newManager(t, tagged())
	for i := range tags {
		newTag(t, m, fmt.Sprint("tag ", i))
	}
	var s Snapshot
	if n := testing.AllocsPerRun(100, func() { s.Tags = nil; m.Snapshot(&s) }); n != 1 {
		t.Errorf("%v allocations for %d tags", n, tags)
	}
	if len(s.Tags) != tags+1 {
		t.Errorf("%d rows of %d", len(s.Tags), tags+1)
	}
	was := &s.Tags[0]
	if n := testing.AllocsPerRun(100, func() { m.Snapshot(&s) }); n != 0 || &s.Tags[0] != was {
		t.Errorf("again %v allocations", n)
	}
}
