package game

import (
	"flag"
	"runtime/debug"
	"testing"
	"time"

	"github.com/strata-go/strata/engine"
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
	for s.Levels() == 0 && (*whole || s.Game.Ticks < first+short) {
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
	if s.Game.Lost != (Lost{}) {
		t.Errorf("lost %+v", s.Game.Lost)
	}
	for i, l := range s.Leaks {
		if l.Any() {
			t.Errorf("level %d left %v", i, l)
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

// At full heat until a realm ends, and a minute beyond: what the tiers carry from when the horde is there until the end
// is the table of TestTraffic. The runtime's two minutes without a collection pass in the midst of the realm, wherever
// a fast machine has come to by then. It is the autopilot's death that ends the realm: nobody clears one at full heat,
// and how a realm is cleared, without it, is TestBalance's.
func TestWhole_AtFullHeatUntilARealmEndsNothingIsCollectedLostOrLeaked(t *testing.T) {
	s := newSession(t, roomy())
	play(t, s, hordeComes)
	if *whole {
		time.Sleep(125 * time.Second)
	}
	carried := watchTraffic(s)
	ticks, beyond := hordeComes+toTheEnd(t, s, 1800-hordeComes, func() {
		if s.Playing() {
			carried.look(s)
		}
	}), uint64(300)
	carried.holds(t)
	if *whole {
		beyond = 3600
	}
	over := s.Game.Phase == Over
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

// A frame of pause before every tick leaves no trace: neither in the state nor in how long a realm lasts.
func TestWhole_APauseBeforeEveryTickOfARealmIsNotNoticed(t *testing.T) {
	play := func(paused bool) (ticks, hash uint64) {
		s := newSession(t, SessionConfig{Game: Config{Seed: 7}})
		frames := 0
		ticks = toTheEnd(t, s, 600, func() {
			if !paused || !s.Playing() {
				return
			}
			var press engine.Input
			press.Pressed.Set(Pause, true)
			was := s.Game.Ticks
			if err := s.Frame(press); err != nil {
				t.Fatal(err)
			}
			if !s.Playing() { // the last frame's doing: the realm has ended
				return
			}
			if !s.Paused || s.Game.Ticks != was {
				t.Fatalf("tick %d: no pause", was)
			}
			s.Paused = false
			frames++
		})
		if paused && frames < int(ticks)-1 {
			t.Errorf("%d pauses in %d ticks", frames, ticks)
		}
		return ticks, s.Game.Hash()
	}
	ticks, hash := play(false)
	pausedTicks, pausedHash := play(true)
	t.Logf("%d ticks, hash %x; with a pause before each %d ticks, hash %x", ticks, hash, pausedTicks, pausedHash)
	if ticks != pausedTicks || hash != pausedHash {
		t.Errorf("the pauses were noticed: %d ticks and hash %x, %d and %x without", pausedTicks, pausedHash, ticks, hash)
	}
}
