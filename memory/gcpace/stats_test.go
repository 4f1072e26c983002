package gcpace

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"testing"
)

func wantCycles(t *testing.T, when string, m *Pacer, cycles, inPlay uint64) {
	t.Helper()
	if s := m.Stats(); s.Cycles != cycles || s.InPlay != inPlay {
		t.Errorf("%s: %d collections, %d of them in play; want %d and %d", when, s.Cycles, s.InPlay, cycles, inPlay)
	}
}

// still makes the test a host whose collector runs only when it is called.
func still(t *testing.T) {
	t.Helper()
	host(t, 100)
	debug.SetGCPercent(-1)
	runtime.GC() // one that had begun by itself meanwhile has ended then, too
}

func TestStats_InPlayIsWhatNoPacerRan(t *testing.T) {
	still(t)
	runtime.GC()
	a, b := paced(t, 0), paced(t, 0)
	runtime.GC()
	wantCycles(t, "before a level", a, 1, 0)
	a.BeginLevel()
	wantCycles(t, "BeginLevel", a, 1, 0)
	a.Collect()
	wantCycles(t, "its own Collect", a, 2, 0)
	b.Collect()
	wantCycles(t, "the other's Collect", a, 3, 0)
	runtime.GC()
	wantCycles(t, "the host's", a, 4, 1)
	wantCycles(t, "seen by one without a level", b, 4, 0)
	b.BeginLevel()
	runtime.GC()
	wantCycles(t, "the host's second", a, 5, 2)
	wantCycles(t, "in the level of the other, too", b, 5, 1)
	debug.SetGCPercent(math.MaxInt32) // the host turns the collector on, far enough off to stay out of this
	litter(1 << 20)
	b.EndLevel()
	wantCycles(t, "an EndLevel that is not due", a, 5, 2)
	before := a.Stats()
	a.EndLevel()
	runtime.GC()
	wantCycles(t, "after the level", a, before.Cycles+1, before.InPlay)
	a.BeginLevel()
	runtime.GC()
	wantCycles(t, "in the next level", a, before.Cycles+2, before.InPlay+1)
}

func TestStats_AnEndLevelsCollectionIsInNobodysPlay(t *testing.T) {
	host(t, 100)
	a, b := paced(t, 0), paced(t, 0)
	a.BeginLevel()
	b.BeginLevel()
	// Until New paces, the host's own collector may begin, and end within New.
	atA, atB := a.Stats().Cycles, b.Stats().Cycles
	litter(120 << 20)
	wantCycles(t, "in both levels", a, atA, 0)
	b.EndLevel()
	wantCycles(t, "after one", a, atA+1, 0)
	wantCycles(t, "after one", b, atB+1, 0)
	a.EndLevel()
	wantCycles(t, "the other's is not due", a, atA+1, 0)
}

func TestStats_BeginLevelInALevelEndsItFirst(t *testing.T) {
	still(t)
	m := paced(t, 0)
	m.EndLevel() // without a level
	m.BeginLevel()
	runtime.GC()
	m.BeginLevel()
	runtime.GC()
	wantCycles(t, "two levels", m, 2, 2)
	m.EndLevel()
	m.EndLevel()
	runtime.GC()
	wantCycles(t, "after them", m, 3, 2)
	must(t, m.Close())
	m.BeginLevel()
	runtime.GC()
	wantCycles(t, "after Close", m, 4, 3)
	m.EndLevel()
}

func TestStats_WithKeepTheyAreTheSame(t *testing.T) {
	still(t)
	m := open(t, Config{Keep: true})
	m.BeginLevel()
	m.Collect()
	runtime.GC()
	wantCycles(t, "Keep", m, 2, 1)
}

// Stats while another pacer collects never shows a collection that is then taken back.
func TestStats_InPlayOfOneWhileOthersCollect(t *testing.T) {
	still(t)
	a, b, c := paced(t, 0), paced(t, 0), paced(t, 0)
	a.BeginLevel()
	var wg sync.WaitGroup
	for _, m := range []*Pacer{b, c} {
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
			runtime.Gosched() // in the browser no goroutine runs until this one waits
		}
		if n := a.Stats().InPlay; n != 0 {
			t.Fatalf("%d collections in play", n)
		}
		a.EndLevel()
		a.BeginLevel()
	}
	wantCycles(t, "at the end", a, 40, 0)
	runtime.GC()
	wantCycles(t, "the host's", a, 41, 1)
}

func TestStats_MaxPauseIsSinceNew(t *testing.T) {
	still(t)
	for range 5 {
		runtime.GC()
	}
	m := paced(t, 0)
	if p := m.Stats().MaxPause; p != 0 {
		t.Errorf("a pause of %v s, and no collection since New", p)
	}
	m.Collect()
	if p := m.Stats().MaxPause; p <= 0 || p > 10 {
		t.Errorf("a pause of %v s", p)
	}
}

func TestStats_MarkIsTheProcessorTimeSinceNew(t *testing.T) {
	still(t)
	hold := make([]*[4]*int, 100_000)
	for i := range hold {
		hold[i] = new([4]*int)
	}
	runtime.GC()
	m := paced(t, 0)
	if s := m.Stats().Mark; s != 0 {
		t.Errorf("%v s of marking, and no collection since New", s)
	}
	m.Collect()
	one := m.Stats().Mark
	m.Collect()
	if two := m.Stats().Mark; !(one > 0 && two > one && two < 100) {
		t.Errorf("%v s of marking after one collection, %v after two", one, two)
	}
	runtime.KeepAlive(hold)
}

func TestCollect_WithReleaseFreeMemoryIsReturned(t *testing.T) {
	still(t)
	m := open(t, Config{Release: true})
	m.BeginLevel()
	const size = 64 << 20
	touched := make([]byte, size)
	for i := 0; i < size; i += 4096 {
		touched[i] = 1
	}
	runtime.KeepAlive(touched)
	before := metric("/memory/classes/heap/released:bytes")
	touched = nil
	m.Collect()
	if after := metric("/memory/classes/heap/released:bytes"); after < before+size/2 {
		t.Errorf("%d bytes are returned, %d before", after, before)
	}
	wantCycles(t, "Release", m, 1, 0)
}

func TestStats_PausesAreTwoForEachCollection(t *testing.T) {
	still(t)
	runtime.GC()
	m := paced(t, 0)
	for range 3 {
		before := m.Stats().Pauses
		m.Collect()
		if n := m.Stats().Pauses - before; n != 2 {
			t.Errorf("%d stops of the world for a collection", n)
		}
	}
	if n := m.Stats().Pauses; n != 6 {
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
func TestStats_AgreeWithMemStats(t *testing.T) {
	still(t)
	runtime.GC()
	m := paced(t, 0)
	hold := make([]*[64]byte, 20_000)
	for i := range hold {
		hold[i] = new([64]byte)
	}
	s := m.Stats()
	var r runtime.MemStats
	runtime.ReadMemStats(&r)
	near := func(name string, got, want, slack uint64) {
		t.Helper()
		if got+slack < want || got > want+slack {
			t.Errorf("%s is %d, the runtime says %d", name, got, want)
		}
	}
	near("HeapBytes", s.HeapBytes, r.HeapAlloc, 1<<20)
	near("HeapObjects", s.HeapObjects, r.HeapObjects, 5000)
	near("Total", s.Total, r.Sys, 4<<20)
	before := s
	more := make([]*[64]byte, 20_000)
	for i := range more {
		more[i] = new([64]byte)
	}
	s = m.Stats()
	near("TotalObjects since", s.TotalObjects-before.TotalObjects, 20_000, 2000)
	near("HeapObjects since", s.HeapObjects-before.HeapObjects, 20_000, 2000)
	runtime.KeepAlive(hold)
	clear(more)
	hold = nil
	runtime.GC()
	s = m.Stats()
	if s.HeapObjects > before.HeapObjects-15_000 || s.TotalObjects < before.TotalObjects+20_000 {
		t.Errorf("after a collection %d objects of %d, %d in all of %d", s.HeapObjects, before.HeapObjects, s.TotalObjects, before.TotalObjects)
	}
	known := metrics.All()
	for _, name := range slices.Concat(metricNames[:], heapMetrics[:], []string{"/gc/cycles/forced:gc-cycles"}) {
		if !slices.ContainsFunc(known, func(d metrics.Description) bool { return d.Name == name }) {
			t.Errorf("the runtime does not know %s", name)
		}
	}
}

func TestStats_DoesNotAllocate(t *testing.T) {
	host(t, 100)
	m := paced(t, 0)
	if n := testing.AllocsPerRun(100, func() { m.Stats() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
