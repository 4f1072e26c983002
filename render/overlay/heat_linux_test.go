//go:build !race

package overlay

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/strata-go/strata/assets"
	demo "github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// mostCost is what the overlay may take of a frame, Update and Draw together, whatever is open. It is a share of the
// median tick of the same game in the same rounds.
const mostCost = 0.07

// threadTime is the processor time of this thread: what else the machine does meanwhile is not in it.
func threadTime(t testing.TB) time.Duration {
	var at unix.Timespec
	must(t, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at))
	return time.Duration(at.Nano())
}

// A hot game is the demo's at full heat, on autopilot and without a window, beside an overlay of its tiers.
type hot struct {
	*game
	s     *session.Session
	ticks []time.Duration // what each tick of the last play took
}

func newHot(t testing.TB) *hot {
	s, err := session.New(session.Config{FS: assets.FS(), Game: demo.Config{Seed: 7, Heat: demo.HeatMost}, Autopilot: true})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	g := &hot{game: &game{t: t, m: s.Mem, now: time.Unix(1000, 0), hz: 60, w: 1280, h: 720}, s: s}
	cfg := Config{Watch: true}
	cfg.Meter.Now = func() time.Time { return g.now }
	g.o, err = newOverlay(s.Mem, cfg, func(*Overlay, *input) {})
	must(t, err)
	t.Cleanup(func() { must(t, g.o.Close()) })
	g.o.Meter().Monitor("entities", "", func() float64 { return float64(s.Game.Entities()) })
	g.alphabet()
	return g
}

// phases are the frames from one change of figures to the next: what is done in one of them is done in each that
// is so many later.
const phases = 16

// play makes n ticks of the game, each of which is drawn once, and calls look with what the overlay does of each.
func (g *hot) play(n int, look func(overlay func())) {
	g.t.Helper()
	g.ticks = g.ticks[:0]
	for stop := g.s.Game.Ticks + uint64(n); g.s.Game.Ticks < stop; {
		look(g.o.Update)
		at := threadTime(g.t)
		must(g.t, g.s.Frame(engine.Input{}))
		if g.s.Playing() {
			g.ticks = append(g.ticks, threadTime(g.t)-at)
		}
		g.now = g.now.Add(time.Second / (settles * phases))
		if !g.s.Playing() {
			time.Sleep(50 * time.Microsecond) // the workers are loading
		}
		look(g.draw)
	}
}

// times returns what n frames took, in their order.
func (g *hot) times(n int) []time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all []time.Duration
	sum, half := time.Duration(0), false
	g.play(n, func(overlay func()) {
		at := threadTime(g.t)
		overlay()
		if sum += threadTime(g.t) - at; half {
			all, sum = append(all, sum), 0
		}
		half = !half
	})
	return all
}

// objects returns in how many halves of n frames something was allocated on the Go heap. The runtime and the game's
// workers contribute a few.
func (g *hot) objects(n int) (halves int) {
	var before, after runtime.MemStats
	g.play(n, func(overlay func()) {
		runtime.ReadMemStats(&before)
		overlay()
		if runtime.ReadMemStats(&after); after.Mallocs > before.Mallocs {
			halves++
		}
	})
	return halves
}

// At full heat the overlay takes at most mostCost of a tick and allocates nothing on the Go heap, with any panel
// open. Ebitengine's one draw call is excluded: see TestWindow_APlainGameShowsItAndAllocatesNoMore.
//
// Processor time includes waiting for cache lines of other programs. So rounds of half a second are repeated, each
// of which opens the panels again. The minimum over the rounds counts for each frame of a round: excessive work
// occurs in all of them.
func TestOverlay_FullHeatCostsAShareOfATickAndNoGoHeap(t *testing.T) {
	testenv.Long(t)
	g := newHot(t)
	g.play(300, func(overlay func()) { overlay() })
	row := func(name string) {
		t.Helper()
		const n, rounds = 2 * phases, 20
		least, all, ticks := make([]time.Duration, n), []time.Duration{}, []time.Duration{}
		for round := 1; ; round++ {
			for _, k := range slices.Clone(g.o.open) {
				g.o.Show(Part(k), false)
				g.o.Show(Part(k), true)
			}
			took := g.times(n)
			for i, d := range took {
				if round == 1 || d < least[i] {
					least[i] = d
				}
			}
			all, ticks = append(all, took...), append(ticks, g.ticks...)
			slices.Sort(ticks)
			tick := ticks[len(ticks)/2]
			most := time.Duration(mostCost * float64(tick))
			if worst := slices.Max(least); round >= 3 && worst <= most || round == rounds {
				slices.Sort(all)
				t.Logf("%-8s%6d enemies, a tick of%5d µs,%4d frames: median%4d µs, worst%4d, the least of%3d rounds%4d, %.1f %% of a tick",
					name, g.s.Game.Enemies(), tick.Microseconds(), len(all), all[len(all)/2].Microseconds(), all[len(all)-1].Microseconds(),
					round, worst.Microseconds(), 100*float64(worst)/float64(tick))
				if worst > most {
					t.Errorf("%s: a frame of %v in each of %d rounds, allowed are %v", name, worst, round, most)
				}
				break
			}
		}
		halves := g.objects(n)
		for round := 1; halves > 2 && round < rounds; round++ { // the runtime and the workers disturb some rounds
			halves = min(halves, g.objects(n))
		}
		if halves > 2 {
			t.Errorf("%s: Go objects in %d of %d halves of frames, in the least of %d rounds", name, halves, 2*n, rounds)
		}
	}
	row("watched")
	for k := 0; k < int(partCount); k += testenv.Step(8) {
		g.only(k)
		row(g.o.parts[k].name)
	}
	for k := range Part(partCount) {
		g.o.Show(k, true)
	}
	row("all")
}

// Hidden, and not watching, it takes less than a microsecond of a frame, Ebitengine's keys included.
func TestOverlay_HiddenTakesLessThanAMicrosecond(t *testing.T) {
	s := newHot(t)
	o, err := New(s.m, Config{})
	must(t, err)
	defer o.Close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const n = 20_000
	least := time.Hour
	for range 5 {
		at := threadTime(t)
		for range n {
			o.Update()
			if o.rates.draws++; o.showing() || o.cfg.Watch {
				t.Fatal("not hidden")
			}
			o.rest()
		}
		least = min(least, (threadTime(t)-at)/n)
	}
	if t.Logf("%v a frame", least); least >= time.Microsecond {
		t.Errorf("%v a frame", least)
	}
}
