package shell_test

import (
	"slices"
	"testing"

	"github.com/strata-go/strata/demo/shell"
)

// pressR presses the key that starts again, during play.
func (d *desk) pressR() shell.Command { return d.Step(shell.Nav{Restart: true}) }

func TestAsk_RStartAgainAndLeaveAskOnce(t *testing.T) {
	for name, c := range map[string]struct {
		ask  func(t *testing.T, d *desk)
		yes  func(t *testing.T, d *desk) shell.Command
		want shell.Command
	}{
		"R and R": {func(t *testing.T, d *desk) { d.pressR() }, func(t *testing.T, d *desk) shell.Command { return d.pressR() }, shell.Restart},
		"R and the item": {func(t *testing.T, d *desk) { d.pressR() },
			func(t *testing.T, d *desk) shell.Command { return d.choose(t, "START AGAIN") }, shell.Restart},
		"START AGAIN": {func(t *testing.T, d *desk) { d.Step(shell.Nav{Pause: true}); d.choose(t, "START AGAIN") },
			func(t *testing.T, d *desk) shell.Command { return d.choose(t, "START AGAIN") }, shell.Restart},
		"LEAVE": {func(t *testing.T, d *desk) { d.Step(shell.Nav{Pause: true}); d.choose(t, "LEAVE") },
			func(t *testing.T, d *desk) shell.Command { return d.choose(t, "LEAVE") }, shell.Leave},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, nil)
			d.choose(t, "PLAY")
			c.ask(t, d)
			d.want(t, shell.Ask, false)
			for _, n := range []shell.Nav{{Restart: true}, {Select: true}, {Click: true, Moved: true, X: 320, Y: 200}} {
				if cmd := d.Step(n); cmd != shell.None {
					t.Errorf("%+v is the answer at once: %d", n, cmd)
				}
			}
			d.wait()
			if cmd := d.Step(shell.Nav{Select: true}); cmd != shell.Resume || d.Screen() != shell.Playing {
				t.Fatalf("what is selected first ends the run: command %d", cmd)
			}
			c.ask(t, d)
			d.wait()
			if cmd := c.yes(t, d); cmd != c.want {
				t.Errorf("command %d, want %d", cmd, c.want)
			}
		})
	}
}

func TestKeep_ARunIsInTheTableOnceHoweverOftenItIsKept(t *testing.T) {
	store := memory{}
	d := newDesk(t, store)
	run := func(score int64) shell.Run { return shell.Run{Score: score, Seed: uint64(score), Realm: "TIDE"} }
	for _, n := range []int64{50, 30, 70} {
		d.choose(t, "PLAY")
		d.Begun()
		d.Keep(run(n - 2))
		d.Keep(run(n - 1))
		d.End(shell.Result{Run: run(n)})
		d.wait()
		d.Step(shell.Nav{Back: true})
	}
	d.choose(t, "PLAY")
	d.Begun()
	d.Keep(run(60)) // and the process ends
	want := []shell.Run{run(70), run(60), run(50), run(30)}
	if got := newDesk(t, store).Runs(); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	d.Begun()
	d.Keep(run(60)) // another run with the same score
	if got := d.Runs(); len(got) != 5 {
		t.Errorf("%+v", got)
	}
	d.End(shell.Result{Run: run(65)})
	if _, place, best := d.Result(); place != 1 || best != 70 {
		t.Errorf("place %d, best %d", place, best)
	}
}

func TestDaily_TheTitleNamesTheDayAndTheRunHasIt(t *testing.T) {
	day := "2026-11-24"
	d := &desk{}
	d.Shell = shell.New(shell.Config{Today: func() string { return day }})
	if cmd := d.choose(t, "TODAY'S RUN 24 NOV"); cmd != shell.Start || d.Day() != day {
		t.Errorf("command %d, day %q", cmd, d.Day())
	}
	d.Step(shell.Nav{Pause: true})
	d.sure(t, "START AGAIN")
	if d.Day() != day {
		t.Error("started again, it is another run")
	}
	d.Step(shell.Nav{Pause: true})
	day = "2026-12-01" // past midnight
	d.sure(t, "LEAVE")
	if d.seek(t, "TODAY'S RUN 1 DEC"); d.choose(t, "PLAY") != shell.Start || d.Day() != "" {
		t.Errorf("an ordinary run is that of %q", d.Day())
	}
}

func TestTurned_TheGameWaitsAndSaysWhy(t *testing.T) {
	up, wide := shell.Canvas{W: 325, H: 703, Finger: 37}, shell.Canvas{W: 577, H: 325, Finger: 37}
	d := newDesk(t, nil)
	d.Place(wide)
	d.choose(t, "PLAY")
	d.Step(shell.Nav{})
	wide.H--
	d.Place(wide)
	d.want(t, shell.Playing, true)
	d.Place(up)
	d.want(t, shell.Paused, false)
	if d.Note() == "" {
		t.Error("nothing says why the game waits")
	}
	d.Step(shell.Nav{Back: true})
	d.want(t, shell.Playing, true)
}
