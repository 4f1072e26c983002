package main

import (
	"errors"
	"os"
	"testing"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/render"
)

// begun is an app in whose run the player has played for some ticks.
func begun(t *testing.T) *app {
	t.Helper()
	a := newTestApp(t)
	a.tick(t, render.Input{Nav: render.Nav{Select: true}})
	a.until(t, func() bool { return !a.s.Attract && a.s.Playing() && a.s.Game.Played > 20 && a.s.Game.Played < 600 })
	a.s.Game.Score = 7000
	return a
}

// table returns what the next start of the program reads as the best runs.
func (a *app) table(t *testing.T) []shell.Run {
	t.Helper()
	data, err := os.ReadFile(shell.Files{Dir: a.o.config}.Place("runs.json"))
	if err != nil {
		t.Fatal(err)
	}
	runs, err := shell.ReadRuns(data)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

func TestRun_EveryWayOutIsInTheTableOnce(t *testing.T) {
	testenv.Long(t)
	wait := func(a *app) {
		for range 40 {
			a.tick(t, render.Input{})
		}
	}
	sure := func(a *app) { // the last item of the pause, and then of the question
		for range 2 {
			wait(a)
			a.tick(t, render.Input{Nav: render.Nav{Up: true}})
			a.tick(t, render.Input{Nav: render.Nav{Select: true}})
		}
	}
	for name, end := range testenv.Some(map[string]func(a *app){
		"death": func(a *app) {
			a.s.Game.Phase, a.s.Game.PhaseTime = game.Over, 0
			a.until(t, func() bool { return a.sh.Screen() == shell.Over })
		},
		"win": func(a *app) {
			a.s.Game.Manifest.Next, a.s.Game.Phase, a.s.Game.PhaseTime = a.o.realm, game.Leaving, 0
			a.until(t, func() bool { return a.sh.Screen() == shell.Ending })
		},
		"R twice": func(a *app) {
			a.tick(t, render.Input{Restart: true})
			wait(a)
			a.tick(t, render.Input{Restart: true})
			a.until(t, func() bool { return a.waiting == shell.None && a.s.Playing() && a.s.Game.Score < 7000 })
		},
		"LEAVE": func(a *app) {
			a.tick(t, render.Input{Pause: true})
			sure(a)
			a.until(t, func() bool { return a.s.Attract && a.s.Playing() })
		},
		"a signal": func(a *app) {
			a.stopped.Store(true)
			if err := a.Update(new(render.Input)); !errors.Is(err, render.ErrQuit) {
				t.Error(err)
			}
		},
		"the window is closed": func(a *app) { a.ended() },
		"the window is closed in the last burst": func(a *app) {
			a.s.Game.Phase, a.s.Game.PhaseTime = game.Over, 0.5
			a.tick(t, render.Input{})
			a.ended()
		},
		"the focus is lost, and then the process": func(a *app) {
			a.focus(true)
			a.focus(false)
			a.tick(t, render.Input{})
		},
		"paused, and then closed": func(a *app) {
			a.tick(t, render.Input{Pause: true})
			wait(a)
			a.ended()
		},
	}, "death", "LEAVE", "a signal") {
		t.Run(name, func(t *testing.T) {
			a := begun(t)
			end(a)
			a.ended() // whatever way it was: the program ends
			runs := a.table(t)
			if name == "R twice" && len(runs) == 2 && runs[1].Score < 7000 { // the next run ends, too
				runs = runs[:1]
			}
			if len(runs) != 1 || runs[0].Score < 7000 || runs[0].Ticks < 20 || runs[0].Won != (name == "win") || runs[0].Realm == "" {
				t.Errorf("%+v", runs)
			}
		})
	}
}

// A game that plays itself is not a run of the player's.
func TestRun_AttractAndAutopilotAreNotInTheTable(t *testing.T) {
	testenv.Long(t)
	a := newTestApp(t)
	a.until(t, func() bool { return a.s.Game.Played > 30 })
	a.ended()
	if runs := a.sh.Runs(); len(runs) != 0 {
		t.Errorf("%+v", runs)
	}
	if daySeed("2026-11-24") == daySeed("2026-11-25") || daySeed("2026-11-24") >= 1<<32 {
		t.Error("the seed does not depend on the day, or is too long")
	}
}

// The run of a day is the run of its seed, whatever was played before it: a score can be compared with others'.
func TestRun_OfADayIsTheSameForEveryone(t *testing.T) {
	testenv.Long(t)
	const seed = 77
	ticks, others := uint64(240), []int{150}
	if testenv.Night() {
		ticks, others = 900, []int{300, 701}
	}
	type mark struct {
		score  int64
		kills  int
		fired  int
		embers int
		p      [2]float32
	}
	play := func(own uint64, before int) (all []mark) {
		s, err := session.New(session.Config{Game: game.Config{Seed: own}, FS: assets.FS(), Log: func(err error) { t.Error(err) }})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}()
		a := &app{o: &options{realm: "ember", seed: seed}, s: s, sh: shell.New(shell.Config{Playing: true})}
		frame := func() {
			a.begin()
			var in engine.Input
			if s.Playing() {
				in = s.Game.Autopilot()
			}
			if err := s.Frame(in); err != nil {
				t.Fatal(err)
			}
		}
		for s.Game.Played < uint64(before) {
			frame()
		}
		a.waiting = shell.Restart
		for frame(); a.waiting != shell.None || !s.Playing() || s.Game.Played > uint64(before)/2; {
			frame()
		}
		for s.Game.Played < ticks {
			if frame(); s.Game.Played%60 == 0 {
				g := s.Game
				all = append(all, mark{g.Score, g.Kills, g.Fired, g.Gathered, g.Player.P})
			}
		}
		return all
	}
	want := play(seed, 4)
	for _, before := range others {
		got := play(3, before)
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("after %d ticks of another game, second %d is %+v, want %+v", before, i, got[i], want[i])
			}
		}
	}
}

func TestRun_EachEnemyHasAPlural(t *testing.T) {
	for k, name := range plurals {
		if name == "" {
			t.Errorf("%v has none", realm.Enemy(k))
		}
	}
}
