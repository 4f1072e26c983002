package stream

import (
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/strata-go/strata/memory"
)

func TestStats_LeadIsWhenItIsNeededLessWhenItIsThere(t *testing.T) {
	for _, c := range []struct {
		leads         []time.Duration
		median, worst time.Duration
		late          uint64
	}{
		{nil, 0, 0, 0},
		{[]time.Duration{time.Second}, time.Second, time.Second, 0},
		{[]time.Duration{-time.Second}, -time.Second, -time.Second, 1},
		{[]time.Duration{-2 * time.Second, time.Second, 3 * time.Second}, time.Second, -2 * time.Second, 1},
		{[]time.Duration{-2 * time.Second, -time.Second, 3 * time.Second}, -time.Second, -2 * time.Second, 2},
	} {
		var l leads
		for _, d := range c.leads {
			l.add(d)
		}
		got := l.lead()
		near := func(a, b time.Duration) bool { return (a - b).Abs() <= max(a, b, -a, -b)/7 }
		if !near(got.Median, c.median) || !near(got.Worst, c.worst) || got.Late != c.late || got.Count != uint64(len(c.leads)) {
			t.Errorf("%v: %+v", c.leads, got)
		}
	}
}

func TestStats_LeadGoesByThePriorityThatWasSaidLast(t *testing.T) {
	r := newRig(t, gallery(t), 1, 0)
	now := time.Unix(1000, 0)
	r.now = func() time.Time { return now }
	after := func(d time.Duration) { now = now.Add(d) }
	early, hurried, overdue := r.picture("a", ETA(3)), r.picture("b", ETA(9)), r.picture("c", ETA(0.5))
	r.picture("d", Last)
	after(time.Second)
	hurried.Priority(ETA(0)) // needed from now on
	overdue.Priority(ETA(0))
	after(time.Second)
	hurried.Priority(ETA(0))
	overdue.Priority(ETA(-1))
	early.Priority(ETA(4)) // it was slower than thought
	r.run()
	// The leads: 4 s, -1 s, -1.5 s; who comes last counts for nothing.
	l := r.Stats().Lead
	if l.Count != 3 || l.Late != 2 || l.Worst != -1500*time.Millisecond || (l.Median+time.Second).Abs() > 30*time.Millisecond {
		t.Errorf("%+v", l)
	}
}

// The runtime or -race ends the test if Register writes the kinds while ResidentOf reads them.
func TestResidentOf_IsSafeDuringRegister(t *testing.T) {
	r := newRig(t, fstest.MapFS{}, 1, 0)
	begun, over := make(chan bool), make(chan bool)
	var others sync.WaitGroup
	others.Go(func() {
		for n := 0; ; n++ {
			if coming, there := ResidentOf[int](r.Streamer); coming|there != 0 {
				t.Errorf("%d and %d bytes of no asset", coming, there)
			}
			if n == 0 {
				close(begun)
			}
			select {
			case <-over:
				return
			default:
			}
		}
	})
	<-begun
	for range 2000 {
		if err := Register(r.Streamer, Kind[int]{Name: "int", Stays: true, Decode: func(*Reader, *Heap) (int, error) { return 0, nil }}); err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		delete(r.kinds, reflect.TypeFor[int]())
		r.mu.Unlock()
	}
	close(over)
	others.Wait()
}

func TestResidentOf_CountsAKindByItself(t *testing.T) {
	r := newRig(t, gallery(t), 2, 0)
	loaded(t, r, "bcd")
	file := Request[File](r, art("a"), 0)
	if coming, there := ResidentOf[Picture](r.Streamer); coming != 3*1024 || there != 0 {
		t.Errorf("%d bytes are coming, %d are there", coming, there)
	}
	r.run()
	f, _ := file.Get()
	coming, there := ResidentOf[Picture](r.Streamer)
	if _, other := ResidentOf[File](r.Streamer); coming != 0 || there != 3*1024 || other != int64(len(f.Data)) || there+other != r.Stats().Resident {
		t.Errorf("%d of pictures, %d coming, %d of files; %+v", there, coming, other, r.Stats())
	}
	r.check(t)
	file.Close()
	if coming, there := ResidentOf[File](r.Streamer); coming != 0 || there != 0 {
		t.Errorf("%d and %d of files", coming, there)
	}
	if _, none := ResidentOf[int](r.Streamer); none != 0 {
		t.Error("a kind that is not registered has bytes")
	}
	r.check(t)
}

// A frayed heap has books that say so.
type frayed struct{ *testHeap }

func (frayed) Stats() memory.Stats { return memory.Stats{Free: 100, LargestFree: 75} }

func TestStats_TellsHowTheWorkersHeapsFray(t *testing.T) {
	r := newRig(t, gallery(t), 1, 0, func(c *Config) {
		heap := c.Heap
		c.Heap = func(w int) memory.Allocator { return frayed{heap(w).(*testHeap)} }
	})
	if f := r.Stats().Fragmentation; f != 0 {
		t.Errorf("%g before anything was loaded", f)
	}
	loaded(t, r, "ab")
	if s := r.Stats(); s.Fragmentation != 0.25 || s.FragmentationMean != 0.25 {
		t.Errorf("%g, mean %g", s.Fragmentation, s.FragmentationMean)
	}
}

// A broken heap has books that cannot be read.
type broken struct{ *testHeap }

func (broken) Stats() memory.Stats { panic("stats") }

func TestStats_AHeapWhoseStatsPanicIsLogged(t *testing.T) {
	r := newRig(t, gallery(t), 1, 0, func(c *Config) {
		heap := c.Heap
		c.Heap = func(w int) memory.Allocator { return broken{heap(w).(*testHeap)} }
	})
	loaded(t, r, "a")
	if errs := r.Errors(); len(errs) != 1 || !strings.Contains(errs[0].Error(), "worker 0: the worker's heap panicked: stats") {
		t.Errorf("%v", errs)
	}
}
