//go:build linux

package bench

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	ark "github.com/mlange-42/ark/ecs"
	"github.com/strata-go/strata/ecs"
	"golang.org/x/sys/unix"
)

const million = 1 << 20

// TestSpikes creates a million entities by steps of 64, in ten worlds of each, and prints the
// worst step: by the clock, by the clock of those steps in which the processor was not given to
// another program, and by the processor time of the thread, with what happened in it. Run it with
//
//	go test -run Spikes -v -cpu 1
func TestSpikes(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	runs := 10
	if testing.Short() {
		runs = 1
	}
	var ours, again, theirs []spikes
	for run := range runs {
		mem := newHeap(t)
		for _, to := range []*[]spikes{&ours, &again} { // the second world finds its pages touched
			w, err := ecs.New(mem, ecs.Config{})
			if err != nil {
				t.Fatal(err)
			}
			m := ecs.NewMap2[position, velocity](w)
			s := grow(func() { m.NewEntity(position{}, velocity{}) })
			*to = append(*to, s)
			t.Logf("run %d: strata %v", run, s)
			w.Close()
		}
		mem.Close()
		a := ark.NewWorld()
		n := ark.NewMap2[position, velocity](a)
		s := grow(func() { n.NewEntity(&position{}, &velocity{}) })
		theirs = append(theirs, s)
		t.Logf("run %d: ark    %v", run, s)
	}
	t.Logf("worst of all runs, strata:       %v", worstOf(ours))
	t.Logf("worst of all runs, touched:      %v", worstOf(again))
	t.Logf("worst of all runs, ark:          %v", worstOf(theirs))
}

// spikes are the worst steps of 64 creations.
type spikes struct {
	wall      time.Duration
	what      string // happened in it
	alone     time.Duration
	processor time.Duration
	own       string // happened in the step with most processor time
	disturbed int    // steps in which the thread was taken off the processor
}

func (s spikes) String() string {
	return fmt.Sprintf("%v (%s); undisturbed %v; own %s; %d steps disturbed", s.wall, s.what, s.alone, s.own, s.disturbed)
}

func worstOf(all []spikes) (w spikes) {
	for _, s := range all {
		if s.wall > w.wall {
			w.wall, w.what = s.wall, s.what
		}
		if s.processor > w.processor {
			w.processor, w.own = s.processor, s.own
		}
		w.alone = max(w.alone, s.alone)
		w.disturbed += s.disturbed
	}
	return w
}

// grow creates a million entities.
func grow(create func()) (s spikes) {
	runtime.GC()
	before := sampleNow()
	for i := range million / 64 {
		start := time.Now()
		for range 64 {
			create()
		}
		took := time.Since(start)
		after := sampleNow()
		if took > s.wall {
			s.wall, s.what = took, fmt.Sprintf("at %d: %v", 64*i, after.since(before))
		}
		if after.usage.Nivcsw == before.usage.Nivcsw {
			s.alone = max(s.alone, took)
		} else {
			s.disturbed++
		}
		if own := after.processor - before.processor; own > s.processor {
			s.processor, s.own = own, fmt.Sprintf("at %d: %v", 64*i, after.since(before))
		}
		before = sampleNow()
	}
	return s
}

// A sample is what may explain a slow step.
type sample struct {
	usage     syscall.Rusage
	cycles    uint64
	processor time.Duration
}

var cycles = []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}

func sampleNow() (s sample) {
	_ = syscall.Getrusage(1, &s.usage) // of this thread
	metrics.Read(cycles)
	s.cycles = cycles[0].Value.Uint64()
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	s.processor = time.Duration(ts.Nano())
	return s
}

func (s sample) since(b sample) string {
	what := []string{fmt.Sprintf("%v of processor time", s.processor-b.processor)}
	add := func(n int64, name string) {
		if n > 0 {
			what = append(what, fmt.Sprintf("%d %s", n, name))
		}
	}
	add(int64(s.cycles-b.cycles), "collections")
	add(s.usage.Minflt-b.usage.Minflt, "page faults")
	add(s.usage.Nivcsw-b.usage.Nivcsw, "times taken off the processor")
	return strings.Join(what, ", ")
}

// TestMarking prints what a collection costs beside a million entities, above one beside none.
//
//	go test -run Marking -v -cpu 1
func TestMarking(t *testing.T) {
	n := million
	if testing.Short() {
		n = 1 << 12
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	empty := collections()
	w, _ := strataPair(t, n)
	ours := collections()
	again := collections()
	runtime.KeepAlive(w)
	w.Close()
	a, _ := arkPair(n)
	theirs := collections()
	runtime.KeepAlive(a)
	t.Logf("a collection, best and median of 50: beside nothing %v, strata %v, A/A %v, ark %v", empty, ours, again, theirs)
}

// collections returns the best and the median time of 50 collections.
func collections() [2]time.Duration {
	var took []time.Duration
	runtime.GC()
	for range 50 {
		start := time.Now()
		runtime.GC()
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return [2]time.Duration{took[0], took[25]}
}
