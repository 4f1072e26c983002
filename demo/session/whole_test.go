package session

import (
	"flag"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tiers"
)

// whole plays realms to their ends where the gate plays some seconds of them: .ci/nightly sets it.
var whole = flag.Bool("whole", false, "play whole realms, and beyond the two minutes after which the runtime collects unasked")

// toTheEnd plays until the realm has ended, or for so many ticks where the run is not of whole realms, and returns how
// many ticks that took. each is called before every tick.
func toTheEnd(t *testing.T, s *Session, short uint64, each func()) uint64 {
	t.Helper()
	first := s.Game.Ticks
	for s.RealmsEnded() == 0 && (*whole || s.Game.Ticks < first+short) {
		if each(); s.Game.Ticks > 60_000 {
			t.Fatal("the realm does not end")
		}
		if err := s.Frame(engine.Input{}); err != nil {
			t.Fatal(err)
		}
		if !s.Playing() {
			time.Sleep(50 * time.Microsecond)
		}
	}
	return s.Game.Ticks - first
}

// sound asserts what a run must not have: failures of tiers, losses, leaks, and collections in play.
func sound(t *testing.T, s *Session) {
	t.Helper()
	var snap tiers.Snapshot
	s.Mem.Snapshot(&snap)
	for _, x := range snap.Tiers {
		if x.Failures > 0 {
			t.Errorf("%v: %d failures", x.Tier, x.Failures)
		}
	}
	if n := snap.Go.InPlay; n != 0 && page.Default() != page.Heap() { // there the tiers themselves are Go memory
		t.Errorf("%d collections in play, of %d", n, snap.Go.Cycles)
	}
	if s.Game.Lost != (game.Lost{}) {
		t.Errorf("lost %+v", s.Game.Lost)
	}
	for i, l := range s.Leaks {
		if l.Any() {
			t.Errorf("realm %d left %v", i, l)
		}
	}
	for _, l := range s.Game.Leaks() {
		t.Errorf("a block of the general heap is left behind: %s", l)
	}
	check(t, s)
}

// goPercent is the GOGC in force.
func goPercent() int {
	p := debug.SetGCPercent(-1)
	debug.SetGCPercent(p)
	return p
}

// At full heat until a realm ends, and a minute beyond. What the tiers carry from when the horde is there until the end
// is the table in traffic_test.go: the game needs the tiers. The autopilot clears some realms, as ember with seed 7,
// and dies on others, as tide with seed 1: both ends are played. The runtime's two minutes without a collection pass
// during the second.
func TestWhole_AtFullHeatNothingIsCollectedLostOrLeaked(t *testing.T) {
	testenv.Long(t)
	for _, c := range []struct {
		realm   string
		seed    uint64
		cleared bool
	}{{"ember", 7, true}, {"tide", 1, false}} {
		if !c.cleared && !*whole {
			continue // until the horde is there, it is as the other
		}
		t.Run(c.realm, func(t *testing.T) { toTheEndAtFullHeat(t, c.realm, c.seed, c.cleared) })
	}
}

func toTheEndAtFullHeat(t *testing.T, realm string, seed uint64, cleared bool) {
	cfg := roomy()
	cfg.Realm, cfg.Game.Seed = realm, seed
	s := newSession(t, cfg)
	play(t, s, hordeComes)
	if *whole && !cleared {
		time.Sleep(125 * time.Second)
	}
	carried := watchTraffic(s)
	ticks, beyond := hordeComes+toTheEnd(t, s, 1800-hordeComes, func() {
		if s.Playing() {
			carried.look(s)
		}
	}), uint64(300)
	carried.holds(t)
	over := s.Game.Phase == game.Over
	if *whole {
		beyond = 3600
		if over == cleared {
			t.Errorf("dead %v after %d ticks; the rules have changed: find a seed that clears it, and one that does not", over, ticks)
		}
	}
	play(t, s, beyond)
	if p := goPercent(); p != -1 { // else the runtime collects every two minutes
		t.Errorf("GOGC is %d in play, want off", p)
	}
	each := s.ObjectsPerTick()
	t.Logf("%d ticks until the realm ended (by the player's death: %v), %d beyond; %d kills, %.3f objects of the Go heap a tick", ticks, over, beyond, s.Game.Kills, each)
	if all := float64(ticks + beyond); each*all > 1000+all/20 { // what a realm begins with, and the runtime's own: a goroutine's stack, a timer
		t.Errorf("%.3f objects of the Go heap a tick", each)
	}
	if n := testing.AllocsPerRun(300, func() { play(t, s, 1) }); n != 0 {
		t.Errorf("a tick costs %v objects of the Go heap", n)
	}
	sound(t, s)
}

// However a realm is played, it lasts as long and ends in the same state: on any number of processors, with its blocks
// anywhere, with the ground in much room and in little, from files near and far, and with a frame of pause before
// every tick. Architectures are compared with one another by TestHash_IsTheSameOnEveryArchitecture of package
// game, which .ci/nightly also plays in wasm, and by the program itself on an emulated arm64.
func TestWhole_TheHashIsTheSameHoweverARealmIsPlayed(t *testing.T) {
	testenv.Long(t)
	plain := way{name: "plain"}
	ticks, hash := plain.play(t)
	t.Logf("%d ticks, hash %016x", ticks, hash)
	for _, w := range []way{
		{name: "GOMAXPROCS 1", procs: 1}, {name: "GOMAXPROCS 2", procs: 2, less: true}, {name: "GOMAXPROCS 16", procs: 16},
		{name: "goheap", store: StoreGoHeap}, {name: "pooled", store: StorePooled},
		{name: "resident 8", resident: 8, less: true}, {name: "resident 64", resident: 64, less: true},
		{name: "resident 8, slow 20,10", resident: 8, latency: 20 * time.Millisecond, rate: 1e7},
		{name: "resident 64, slow 200,1", resident: 64, latency: 200 * time.Millisecond, rate: 1e6},
		{name: "slow 50,0.5", latency: 50 * time.Millisecond, rate: 5e5, less: true},
		{name: "paused before every tick", paused: true},
	} {
		if w.less && !*whole {
			continue // another value of what is played already
		}
		t.Run(w.name, func(t *testing.T) {
			n, h := w.play(t)
			if t.Logf("%d ticks, hash %016x", n, h); n != ticks || h != hash {
				t.Errorf("%d ticks and hash %016x; plainly %d and %016x", n, h, ticks, hash)
			}
		})
	}
}

// A way is how a realm of seed 7 is played.
type way struct {
	name     string
	procs    int // of GOMAXPROCS; 0 is as it is
	store    Store
	resident int           // MiB of the ground; 0 is without
	latency  time.Duration // of files, at so many bytes a second; 0 is as they lie
	rate     int64
	paused   bool
	less     bool // only with -whole
}

// play plays a realm to its end and returns how long it was and what it ended in.
func (w *way) play(t *testing.T) (ticks, hash uint64) {
	if w.procs > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(w.procs))
	}
	cfg := Config{Game: game.Config{Seed: 7}, Store: w.store}
	if w.resident > 0 {
		cfg.View, cfg.GroundBytes = NewStandIn(), w.resident<<20
	}
	if w.rate > 0 {
		cfg.FS = stream.Slow(assets.FS(), w.latency, w.rate)
	}
	s := newSession(t, cfg)
	pauses := 0
	ticks = toTheEnd(t, s, 300, func() {
		if w.paused && s.Playing() && hold(t, s) {
			pauses++
		}
	})
	if w.paused && pauses < int(ticks)-1 {
		t.Errorf("%d pauses in %d ticks", pauses, ticks)
	}
	return ticks, s.Game.Hash()
}

// hold is a frame of pause, of which it tells whether it was one: the realm may have ended in the frame before.
func hold(t *testing.T, s *Session) bool {
	t.Helper()
	was := s.Game.Ticks
	if err := s.Frame(engine.Input{Pressed: game.Pause}); err != nil {
		t.Fatal(err)
	}
	if !s.Playing() {
		return false
	}
	if !s.Paused || s.Game.Ticks != was {
		t.Fatalf("tick %d: no pause", was)
	}
	s.Paused = false
	return true
}
