package gcpace

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// These tests set what is the process's, so none of them is parallel, and each puts it back.

// host makes the test a host with that GOGC and without pacers.
func host(t *testing.T, percent int) {
	t.Helper()
	old := debug.SetGCPercent(100)
	eventually(t, "earlier tests release the pacing", func() bool {
		runtime.GC()
		pacing.Lock()
		defer pacing.Unlock()
		return len(pacing.claims) == 0
	})
	pacing.Lock()
	pacing.set = none // what an earlier test left standing is not this one's
	pacing.Unlock()
	limit := debug.SetMemoryLimit(-1)
	debug.SetGCPercent(percent)
	t.Cleanup(func() {
		debug.SetGCPercent(old)
		debug.SetMemoryLimit(limit)
	})
}

func gogc() int { return int(int32(metric("/gc/gogc:percent"))) }

func metric(name string) uint64 {
	s := samplesOf([]string{name})
	metrics.Read(s)
	return number(&s[0])
}

func wantGOGC(t *testing.T, when string, want int) {
	t.Helper()
	if got := gogc(); got != want {
		t.Errorf("%s: GOGC is %d, want %d", when, got, want)
	}
}

// wantPaced asserts that the headroom is in force: no collection begins before the heap has grown by it.
func wantPaced(t *testing.T, when string, headroom uint64) {
	t.Helper()
	live, goal := metric("/gc/heap/live:bytes"), metric("/gc/heap/goal:bytes")
	if goal < live+headroom {
		t.Errorf("%s: GOGC %d, goal %d with %d live; want a headroom of %d", when, gogc(), goal, live, headroom)
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	testenv.Until(t, what, time.Millisecond, ok)
}

func open(t *testing.T, cfg Config) *Pacer {
	t.Helper()
	p, err := New(cfg)
	must(t, err)
	t.Cleanup(func() { must(t, p.Close()) })
	return p
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func paced(t *testing.T, headroom int64) *Pacer {
	t.Helper()
	return open(t, Config{Headroom: headroom})
}

// level plays one level that makes so many bytes of garbage.
func level(t *testing.T, m *Pacer, bytes int) {
	t.Helper()
	m.BeginLevel()
	litter(bytes)
	m.EndLevel()
}

var garbage []byte

func litter(bytes int) {
	for n := 0; n < bytes; n += 4 << 10 {
		garbage = make([]byte, 4<<10)
	}
	garbage = nil
}

func TestNew_AHeadroomBelowZeroIsAnError(t *testing.T) {
	host(t, 70)
	p, err := New(Config{Headroom: -1})
	if want := "gcpace: Headroom -1: want at least 0"; p != nil || !errors.Is(err, memory.ErrConfig) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, %v; want %s", p, err, want)
	}
	wantGOGC(t, "after the error", 70)
}

func TestPacing_AHostsGCPercentSetMeanwhileIsKept(t *testing.T) {
	for _, own := range []int{50, 100, 400, 0, -1} {
		host(t, 70)
		m := paced(t, 0)
		wantPaced(t, "after New", 256<<20)
		m.BeginLevel()
		debug.SetGCPercent(own)
		m.EndLevel()
		wantGOGC(t, "after EndLevel", own)
		level(t, m, 8<<20)
		m.Collect()
		wantGOGC(t, "after Collect", own)
		for range 3 {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
		wantGOGC(t, "after collections", own)
		must(t, m.Close())
		wantGOGC(t, "after Close", own)
	}
}

// The bracket that loaders put around their work: defer debug.SetGCPercent(debug.SetGCPercent(-1)).
func TestPacing_AFigureThatIsPutBackIsPacedAgain(t *testing.T) {
	host(t, 70)
	m := paced(t, 64<<20)
	ours := debug.SetGCPercent(-1)
	level(t, m, 1<<20)
	wantGOGC(t, "in the bracket", -1)
	debug.SetGCPercent(ours)
	level(t, m, 1<<20)
	wantPaced(t, "after the bracket", 64<<20)
	must(t, m.Close())
	wantGOGC(t, "after Close", 70)
}

func TestPacing_AFigurePutBackAfterCloseIsTheHosts(t *testing.T) {
	host(t, 70)
	m := paced(t, 0)
	ours := debug.SetGCPercent(-1)
	must(t, m.Close())
	wantGOGC(t, "in the bracket", -1)
	debug.SetGCPercent(ours)
	eventually(t, "the next collection sees to it", func() bool {
		runtime.GC()
		return gogc() == 70
	})
	runtime.GC()
	time.Sleep(5 * time.Millisecond)
	wantGOGC(t, "and from then on", 70)
}

func TestPacing_OfNewAndTheHostTheLaterCounts(t *testing.T) {
	host(t, 100)
	a := paced(t, 64<<20)
	debug.SetGCPercent(60)
	b := paced(t, 32<<20)
	wantPaced(t, "after the second New", 64<<20)
	must(t, a.Close())
	wantPaced(t, "after one Close", 32<<20)
	must(t, b.Close())
	wantGOGC(t, "after both", 60)
}

func TestPacing_TwoPacersClosedInEitherOrder(t *testing.T) {
	for _, largeFirst := range []bool{true, false} {
		host(t, 90)
		large, other := paced(t, 300<<20), paced(t, 100<<20)
		wantPaced(t, "with both", 300<<20)
		if largeFirst {
			must(t, large.Close())
			wantPaced(t, "with the small one", 100<<20)
			if goal := metric("/gc/heap/goal:bytes"); goal > 250<<20 {
				t.Errorf("with the small one the goal is %d", goal)
			}
			must(t, other.Close())
		} else {
			must(t, other.Close())
			wantPaced(t, "with the large one", 300<<20)
			must(t, large.Close())
		}
		wantGOGC(t, "after both", 90)
	}
}

func TestPacing_CloseTwice(t *testing.T) {
	host(t, 90)
	b, a := paced(t, 0), paced(t, 0)
	must(t, a.Close())
	must(t, a.Close())
	wantPaced(t, "the other one still lives", 256<<20)
	must(t, b.Close())
	wantGOGC(t, "after both", 90)
	debug.SetGCPercent(55)
	must(t, b.Close())
	wantGOGC(t, "a second Close", 55)
}

// What notices collections is armed once in the process, not once for each pacer.
func TestPacing_ClosedPacersLeaveNothingOnTheHeap(t *testing.T) {
	host(t, 100)
	openAndClose := func() {
		p, err := New(Config{Headroom: 1 << 20})
		must(t, err)
		must(t, p.Close())
	}
	openAndClose()
	live := func() uint64 {
		runtime.GC()
		runtime.GC()
		return metric("/gc/heap/live:bytes")
	}
	before := live()
	for range 200 {
		openAndClose()
	}
	if after := live(); after > before+2<<20 {
		t.Errorf("200 pacers left %d bytes", after-before)
	}
}

//go:noinline
func drop(t *testing.T) {
	m, err := New(Config{})
	must(t, err)
	m.BeginLevel()
}

func TestPacing_ADroppedPacerRestoresGOGC(t *testing.T) {
	host(t, 80)
	drop(t)
	kept := paced(t, 64<<20)
	eventually(t, "the dropped pacer's headroom ends", func() bool {
		runtime.GC()
		return metric("/gc/heap/goal:bytes") < 200<<20
	})
	wantPaced(t, "with the other one", 64<<20)
	drop(t)
	must(t, kept.Close())
	eventually(t, "the last pacer is dropped", func() bool {
		runtime.GC()
		return gogc() == 80
	})
}

func TestPacing_KeepLeavesTheCollectorAlone(t *testing.T) {
	host(t, 85)
	m := open(t, Config{Keep: true})
	wantGOGC(t, "after New", 85)
	debug.SetGCPercent(1000)
	m.BeginLevel()
	forced := metric("/gc/cycles/forced:gc-cycles")
	litter(80 << 20)
	m.EndLevel()
	if n := metric("/gc/cycles/forced:gc-cycles") - forced; n != 0 {
		t.Errorf("EndLevel ran %d collections", n)
	}
	m.Collect()
	if n := metric("/gc/cycles/forced:gc-cycles") - forced; n != 1 {
		t.Errorf("Collect ran %d collections", n)
	}
	must(t, m.Close())
	wantGOGC(t, "after Close", 1000)
}

func TestPacing_OffStaysOff(t *testing.T) {
	host(t, -1)
	m := paced(t, 16<<20)
	before := metric("/gc/cycles/total:gc-cycles")
	for range 3 {
		level(t, m, 24<<20)
		wantGOGC(t, "with a pacer", -1)
	}
	if n := metric("/gc/cycles/total:gc-cycles") - before; n != 0 {
		t.Errorf("%d collections with GOGC=off", n)
	}
	must(t, m.Close())
	wantGOGC(t, "after Close", -1)
}

// collections plays levels and returns how many collections there were, in all and in play.
func collections(t *testing.T, cfg Config, levels, bytes int) (all, inPlay uint64) {
	t.Helper()
	all, inPlay, _ = collectionsAndWay(t, cfg, levels, bytes)
	return all, inPlay
}

// collectionsAndWay also returns how far the heap may grow in plain Go.
func collectionsAndWay(t *testing.T, cfg Config, levels, bytes int) (all, inPlay uint64, way int) {
	t.Helper()
	m, err := New(cfg)
	must(t, err)
	runtime.GC()
	pacing.Lock()
	pacing.read()
	way = int(pacing.heap.goal(100) - pacing.heap.live)
	pacing.Unlock()
	before := metric("/gc/cycles/total:gc-cycles")
	for range levels {
		level(t, m, bytes)
	}
	all = metric("/gc/cycles/total:gc-cycles") - before
	must(t, m.Close())
	return all, m.Stats().InPlay, way
}

// live holds so many bytes in objects with pointers until the test ends. They are of 512 bytes: the
// collector marks a list one by one, which with smaller ones was most of what these tests took.
func live(t *testing.T, bytes int) {
	type node struct {
		next *node
		_    [504]byte
	}
	var list *node
	for n := 0; n < bytes; n += 512 {
		list = &node{next: list}
	}
	t.Cleanup(func() { runtime.KeepAlive(list) })
}

// The number of collections in plain Go depends on how late its scheduler is: what is allocated meanwhile delays the
// next one. So the number is computed: one each time that the heap has grown from live to the goal, or to 45/64 of the
// way. The runtime begins there at the earliest.
func TestPacing_NeverCollectsMoreThanPlainGo(t *testing.T) {
	testenv.Long(t)
	for _, held := range []int{0, 24 << 20} {
		t.Run(fmt.Sprint(held>>20, " MiB"), func(t *testing.T) {
			host(t, 100)
			live(t, held)
			for _, headroom := range []int64{1 << 20, 16 << 20, 256 << 20} {
				for _, bytes := range []int{1 << 20, 10 << 20, 30 << 20} {
					got, inPlay, way := collectionsAndWay(t, Config{Headroom: headroom}, 6, bytes)
					total := 6 * (bytes + 64<<10)
					if most := total / (way / 64 * 45); got > uint64(most) {
						t.Errorf("%d bytes a level, headroom %d: %d collections, plain Go up to %d", bytes, headroom, got, most)
					}
					// All at level ends; late by up to a level, never early.
					if most := total / way; headroom == 256<<20 && (inPlay > 0 || got > uint64(most) || got < uint64(min(most/2, 6))) {
						t.Errorf("%d bytes a level: %d collections, %d of them in play; plain Go at least %d", bytes, got, inPlay, most)
					}
				}
			}
		})
	}
}

// The percentage in force is never below the host's, so neither is the goal below plain Go's.
func TestPacing_TheGoalIsNeverBelowPlainGos(t *testing.T) {
	for _, percent := range []int{0, 30, 100, 900} {
		host(t, percent)
		m := paced(t, 2<<20)
		check := func(when string) {
			t.Helper()
			if p := gogc(); p < percent {
				t.Errorf("%s GOGC is %d, the host's is %d", when, p, percent)
			}
		}
		check("after New")
		for _, bytes := range []int{0, 1 << 20, 30 << 20} {
			m.BeginLevel()
			check("after BeginLevel")
			for range 8 {
				litter(bytes / 8)
				check("in a level")
			}
			m.EndLevel()
			check("after EndLevel")
			m.Collect()
			check("after Collect")
		}
		must(t, m.Close())
		wantGOGC(t, "after Close", percent)
	}
}

func TestPacing_NoCollectionInALevelWithoutGarbage(t *testing.T) {
	testenv.Long(t)
	for _, percent := range []int{100, 10, 0} {
		host(t, percent)
		live(t, 16<<20)
		all, inPlay := collections(t, Config{}, 5, 0)
		if inPlay != 0 || percent > 0 && all != 0 {
			t.Errorf("GOGC=%d: %d collections, %d of them in play", percent, all, inPlay)
		}
	}
}

func TestPacing_NoCollectionInALevelBelowTheHeadroom(t *testing.T) {
	testenv.Long(t)
	for _, percent := range []int{100, 10} {
		host(t, percent)
		live(t, 16<<20)
		cfg := Config{Headroom: 64 << 20}
		all, inPlay := collections(t, cfg, 5, 56<<20)
		if inPlay != 0 || all == 0 {
			t.Errorf("GOGC=%d: %d collections, %d of them in play", percent, all, inPlay)
		}
		if _, inPlay := collections(t, cfg, 2, 400<<20); inPlay == 0 {
			t.Errorf("GOGC=%d: far beyond the headroom there was no collection in play", percent)
		}
	}
}

// What loading leaves on the heap before the level does not shorten the level's headroom.
// With one processor the collection is noticed only behind what the level has allocated.
func TestPacing_TheHeadroomCountsIfTheCollectionIsNoticedLate(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	TestPacing_TheHeadroomCountsFromBeginLevel(t)
}

func TestPacing_TheHeadroomCountsFromBeginLevel(t *testing.T) {
	host(t, 100)
	live(t, 40<<20)
	m := paced(t, 30<<20)
	var h heap
	tries := 0
	// Until no collection comes in between, as what other tests left behind may bring one.
	for end := testenv.Deadline(t); time.Now().Before(end); {
		tries++
		runtime.GC()
		cycles := metric("/gc/cycles/total:gc-cycles")
		litter(25 << 20)
		m.BeginLevel()
		pacing.Lock()
		pacing.read()
		h = pacing.heap
		pacing.Unlock()
		if metric("/gc/cycles/total:gc-cycles") == cycles {
			break
		}
		m.EndLevel()
	}
	if h.now < h.live+20<<20 {
		t.Errorf("25 MiB were allocated; live %d, now %d, in try %d, at %d per cent", h.live, h.now, tries, h.percent)
	}
	if start := h.start(h.percent); start < h.now+29<<20 {
		t.Errorf("%d bytes at BeginLevel, and a collection may begin at %d", h.now, start)
	}
}

func TestPacing_TheHostsMemoryLimitIsHonoured(t *testing.T) {
	host(t, 100)
	debug.FreeOSMemory()
	limit := int64(metric("/memory/classes/total:bytes")-metric("/memory/classes/heap/released:bytes")) + 64<<20
	debug.SetMemoryLimit(limit + 1)
	m := paced(t, 0)
	if l := debug.SetMemoryLimit(limit); l != limit+1 {
		t.Errorf("New made the limit %d, was %d", l, limit+1)
	}
	m.BeginLevel()
	litter(200 << 20)
	// The headroom alone allows 256 MiB. What has begun ends when the machine has time for it.
	eventually(t, "a collection, of 200 MiB of garbage with a limit 64 MiB above what there was", func() bool {
		return m.Stats().InPlay > 0
	})
	m.EndLevel()
	must(t, m.Close())
	if l := debug.SetMemoryLimit(-1); l != limit {
		t.Errorf("the limit is %d after Close, want %d", l, limit)
	}
}

// The live heap grows after the percentage was set. A headroom of 32 MiB is 1,000 % of 4 MiB; 1,000 % of 60 MiB would be
// 600 MiB.
func TestPacing_FollowsALiveHeapThatGrowsInALevel(t *testing.T) {
	for _, blocked := range []bool{false, true} {
		t.Run(fmt.Sprintf("finalizers blocked %v", blocked), func(t *testing.T) {
			host(t, 100)
			release := make(chan struct{})
			defer close(release)
			if blocked { // a host whose finalizer does not return
				running := make(chan struct{})
				runtime.SetFinalizer(&struct{ _ [4]*int }{}, func(any) { close(running); <-release })
				runtime.GC()
				<-running
			}
			m := paced(t, 32<<20)
			m.BeginLevel()
			live(t, 60<<20)
			runtime.GC()
			eventually(t, "GOGC follows", func() bool {
				live, goal := metric("/gc/heap/live:bytes"), metric("/gc/heap/goal:bytes")
				return goal < max(live+50<<20, 2*live+live/16)
			})
			wantPaced(t, "with a larger heap", 32<<20)
			must(t, m.Close())
			wantGOGC(t, "after Close", 100)
		})
	}
}

// A host that sets GOGC from another goroutine, at the very moment, wins.
func TestPacing_AHostsFigureSurvivesARace(t *testing.T) {
	host(t, 100)
	m := paced(t, 64<<20)
	n := 2000
	if testenv.Brief() {
		n = 300
	}
	for i := range n {
		own, done := 110+i%50, make(chan struct{})
		go func() {
			defer close(done)
			debug.SetGCPercent(own)
		}()
		m.BeginLevel()
		m.EndLevel()
		<-done
		pacing.follow()
		if got := gogc(); got != own {
			t.Fatalf("round %d: GOGC is %d, the host had set %d", i, got, own)
		}
		other := paced(t, 64<<20) // paces again
		must(t, other.Close())
	}
	must(t, m.Close())
}

func TestPacing_TheEnvironmentsFiguresComeBack(t *testing.T) {
	if os.Getenv("STRATA_PACING_CHILD") != "" {
		was := gogc()
		limit := debug.SetMemoryLimit(-1)
		m := paced(t, 0)
		level(t, m, 8<<20)
		if was >= 0 {
			wantPaced(t, "with a pacer", 256<<20)
		}
		must(t, m.Close())
		if debug.SetMemoryLimit(-1) != limit {
			t.Error("another limit")
		}
		t.Logf("child: GOGC %d to %d, limit %d", was, gogc(), limit)
		return
	}
	if runtime.GOOS == "js" {
		t.Skip("no processes")
	}
	for env, want := range map[string]string{
		"GOGC=off":          "GOGC -1 to -1, limit 9223372036854775807",
		"GOGC=77":           "GOGC 77 to 77, limit 9223372036854775807",
		"GOMEMLIMIT=900MiB": "GOGC 100 to 100, limit 943718400",
	} {
		cmd := testenv.Command(t, os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(cmd.Environ(), "GOGC=", "GOMEMLIMIT=", env, "STRATA_PACING_CHILD=1")
		out, err := cmd.CombinedOutput()
		if err != nil && !bytes.Contains(out, []byte("coverage")) || !strings.Contains(string(out), want) {
			t.Errorf("%s: want %q, %v\n%s", env, want, err, out)
		}
	}
}

// start is where the runtime may begin a collection at the earliest, see gcControllerState.trigger.
func (h *heap) start(percent int) uint64 {
	return h.live + (h.goal(percent)-h.live)/64*45
}

func TestPercentFor_IsTheLeastThatGivesTheHeadroom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	size := func(bits int) uint64 { return r.Uint64N(1 << r.IntN(bits)) }
	for range 200_000 {
		h := heap{live: size(44)}
		h.scanned = h.live + size(30)
		h.now = h.live + size(40)
		wish, headroom := int(size(12)), size(41)
		p := h.percentFor(wish, headroom)
		begin := min(h.now, h.goal(wish)) + headroom
		switch {
		case p < wish:
			t.Fatalf("%+v: %d is below the host's %d", h, p, wish)
		case p == math.MaxInt32:
		case p > wish && h.start(p) < begin:
			t.Fatalf("%+v, headroom %d: GOGC %d begins at %d, want %d", h, headroom, p, h.start(p), begin)
		case p == wish && h.goal(p) < begin:
			t.Fatalf("%+v, headroom %d: the host's GOGC %d has the goal %d, want %d", h, headroom, p, h.goal(p), begin)
		case p > wish+2 && h.start(p-2) >= begin+begin/50+1<<10:
			t.Fatalf("%+v, headroom %d: GOGC %d begins at %d, %d would do for %d", h, headroom, p, h.start(p), p-2, begin)
		}
	}
	h := heap{live: 1 << 30, scanned: 1 << 30, now: 1 << 30}
	if p := h.percentFor(off, maxHeadroom); p != off {
		t.Errorf("off became %d", p)
	}
	if p := h.percentFor(100, 256<<20); p != 100 {
		t.Errorf("1 GiB live: GOGC %d, plain Go's 100 has the headroom already", p)
	}
	h = heap{}
	if p := h.percentFor(100, maxHeadroom); p != 37282703 {
		t.Errorf("an empty heap: GOGC %d", p)
	}
	h = heap{live: 1 << 47, scanned: 1 << 48, now: 1 << 47}
	if p := h.percentFor(math.MaxInt32, maxHeadroom); p != math.MaxInt32 {
		t.Errorf("the largest GOGC became %d", p)
	}
}

func TestGoal_OfMoreThanAllAddressesIsNoSmallOne(t *testing.T) {
	for _, scanned := range []uint64{1 << 40, 1 << 50, 1 << 62} {
		h := heap{live: 1, scanned: scanned}
		if got := h.goal(math.MaxInt32); got < 1<<54 {
			t.Errorf("%d bytes scanned at the largest GOGC: goal %d", scanned, got)
		}
	}
	if got := share(1<<62, 400); got != 1<<62 {
		t.Errorf("four times 1<<62 is %d", got)
	}
	if got := share(1<<40, 150); got != 3<<39 {
		t.Errorf("150 percent of 1<<40 is %d", got)
	}
}

func TestPercentFor_AgreesWithTheRuntime(t *testing.T) {
	host(t, 100)
	debug.SetMemoryLimit(math.MaxInt64) // it lowers the goal
	for _, held := range []int{0, 2 << 20, 40 << 20} {
		live(t, held)
		for _, headroom := range []int64{1 << 20, 30 << 20, math.MaxInt64} {
			m := paced(t, headroom)
			runtime.GC()
			m.Collect()
			pacing.Lock()
			pacing.read()
			want, got := pacing.heap.goal(gogc()), metric("/gc/heap/goal:bytes")
			pacing.Unlock()
			if got < want || got > want+want/100+2<<20 {
				t.Errorf("%d MiB held, headroom %d: goal %d, computed %d", held>>20, headroom, got, want)
			}
			must(t, m.Close())
		}
	}
}
