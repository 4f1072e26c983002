package main

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/shell"
)

// A player's game is a run. It begins with PLAY. It ends if the ship falls or the last realm is won, and if the player
// starts again, leaves, or closes the window. A signal ends it too. Each of these puts the run into the table.

const (
	// overAfter is for how many seconds the last burst is seen before the table of figures comes.
	overAfter = 1.3
	// wonAfter is for how many seconds the spark is seen to dissolve before the ending comes.
	wonAfter = 0.8
	// rewindFor is for how many seconds more a ship that fell can be rewound.
	rewindFor = 1.5
)

// today returns the day of the daily run.
func today() string { return time.Now().UTC().Format(time.DateOnly) }

// daySeed returns the seed of the daily run of a day. It is the same for everyone.
func daySeed(day string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("strata " + day)) // it never fails
	return h.Sum64() >> 32                  // ten digits can be typed after -seed
}

// nextSeed returns the seed of the run that begins: that of the day, or -seed, and one more for each further run.
func (a *app) nextSeed() uint64 {
	if day := a.sh.Day(); day != "" {
		return daySeed(day)
	}
	a.begun++
	return a.o.seed + a.begun - 1
}

// keep puts the run into the table as far as it was played. While a saved run loads, the game has the figures of another.
func (a *app) keep() {
	if a.live && !a.loading && a.s.Game.Played > 0 {
		a.sh.Keep(a.run(a.won()))
	}
}

// ended saves what is to be kept, after a quit or if the window was closed or the run has failed.
func (a *app) ended() {
	a.keep()
	a.sh.Close()
}

// won reports whether the player flies through the portal of the last realm.
func (a *app) won() bool {
	g := a.s.Game
	return g.Phase == game.Leaving && a.s.Next() == a.s.First()
}

// over reports the end of the run to the shell.
func (a *app) over() {
	g := a.s.Game
	if !a.live || a.sh.Screen() != shell.Playing || !a.s.Playing() || a.waiting != shell.None {
		return
	}
	after := float32(overAfter)
	if _, on := a.s.Past.Rewinding(); on || a.s.Past.Possible() {
		after += rewindFor
	}
	if g.Phase == game.Over && g.PhaseTime > after || a.won() && g.PhaseTime > wonAfter {
		a.sh.End(a.result(a.won()))
		a.live = false
	}
}

// run is the run's row in the table.
func (a *app) run(won bool) shell.Run {
	g := a.s.Game
	return shell.Run{
		Score: g.Score, Realm: strings.ToUpper(g.Manifest.Name), Ticks: g.Played, Kills: uint64(g.Kills),
		Seed: a.seed, Won: won, Day: a.sh.Day(), Rewinds: a.s.Past.Used(),
	}
}

// result is what the end screens show.
func (a *app) result(won bool) shell.Result {
	g := a.s.Game
	r := shell.Result{Run: a.run(won)}
	if !won && g.Cause != game.CauseNone {
		r.Cause = "ENDED BY " + strings.ToUpper(g.Cause.String())
	}
	add := func(label, value string) { r.Figures = append(r.Figures, shell.Figure{Label: label, Value: value}) }
	count := func(label string, n int) { add(label, grouped(n)) }
	for i, ticks := range g.Spent {
		if ticks > 0 {
			add("TIME IN "+strings.ToUpper(realm.Names[i]), minutes(ticks))
		}
	}
	for kind, n := range g.Fallen {
		if n > 0 {
			count(plurals[kind], n)
		}
	}
	count("EMBERS", g.Gathered)
	add("ACCURACY", accuracy(g.Fired, g.Struck))
	count("MOST PARTICLES ALIVE", a.particles)
	count("COLLECTIONS IN PLAY", int(a.collections()-a.before))
	if n := a.s.Past.Used(); n > 0 {
		count("REWINDS", n)
	}
	for k, n := range g.Gifts {
		if n > 0 {
			r.Gifts = append(r.Gifts, fmt.Sprintf("%s %d", game.GiftNames[k], n))
		}
	}
	return r
}

// plurals are the kinds of enemies in the statistics.
var plurals = [realm.EnemyKinds]string{realm.Drifter: "DRIFTERS", realm.Lancer: "LANCERS", realm.Swarm: "SWARMERS", realm.Warden: "WARDENS"}

// accuracy returns which share of the shots has hit.
func accuracy(fired, struck int) string {
	if fired == 0 {
		return "NO SHOT"
	}
	return strconv.Itoa(min(100, (100*struck+fired/2)/fired)) + " %"
}

// minutes returns minutes and seconds.
func minutes(ticks uint64) string { return fmt.Sprintf("%d:%02d", ticks/3600, ticks/60%60) }

// grouped returns n with a comma for each thousand.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
