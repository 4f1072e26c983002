package game

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// A model is a player: the autopilot with a delay, an error of aim, and eyes that are not always on the game.
type model struct {
	name  string
	late  int     // ticks between what it sees and what it does
	wrong float32 // the most that it aims beside, about the radians
	looks float32 // share of the time in which it sees where to go; else it drifts anywhere, or stays
}

var models = [...]model{
	{"slow", 27, 0.50, 0.45},
	{"medium", 15, 0.25, 0.75},
	{"good", 7, 0.10, 1},
}

// glance is how many ticks a player looks, or does not.
const glance = 30

// hand returns the hands of one who plays as a model does, and takes gifts in an order of liking of its own.
func (m model) hand(seed uint64) func(g *Game) engine.Input {
	later := make([]engine.Input, m.late)
	rng := engine.NewRand(seed, uint64(m.late))
	var liking [GiftKinds]int
	for i := range liking { // a shuffle
		j := rng.Intn(i + 1)
		liking[i], liking[j] = liking[j], i
	}
	n, looks, astray := 0, true, vec{}
	return func(g *Game) engine.Input {
		if n%glance == 0 {
			looks, astray = rng.Chance(m.looks), rng.Disc()
		}
		see := g.Autopilot()
		if !looks {
			see.Move = astray
			see.Pressed.Set(Dash, false)
		}
		at := n % m.late
		n++
		in := later[at]
		later[at] = see
		if in.Aim != (vec{}) {
			in.Aim = unit(engine.MulAdd(in.Aim, engine.Perp(in.Aim), rng.Range(-m.wrong, m.wrong)))
		}
		for _, b := range [...]engine.Buttons{Choose1, Choose2, Choose3} {
			in.Pressed.Set(b, false)
		}
		if g.Offered {
			best := 0
			for i, k := range g.Offer {
				if liking[k] < liking[g.Offer[best]] {
					best = i
				}
			}
			in.Pressed.Set([...]engine.Buttons{Choose1, Choose2, Choose3}[best], true)
		}
		return in
	}
}

// A fate is how a run went.
type fate struct {
	won, died bool
	minutes   float64
	kills     int
	seals     int
	gifts     [GiftKinds]uint8
	offered   [GiftKinds]int // how often
	cause     string         // of its end, if it died
}

const runMost = 8 * minute

// live plays one run on a realm: until it is cleared, until the player's end, or for eight minutes.
func (m model) live(t *testing.T, name string, seed uint64) (f fate) {
	h := newHost(t, Config{Seed: seed}, ample(), name)
	h.hand = m.hand(seed)
	offers := 0
	h.until(t, runMost, func(g *Game) bool {
		taken := 0
		for _, n := range g.Gifts {
			taken += int(n)
		}
		if g.Offered && offers == taken {
			offers++
			for _, k := range g.Offer {
				f.offered[k]++
			}
		}
		return g.Phase == Over || g.Phase == Leaving
	})
	g := h.Game
	f.won, f.died, f.minutes, f.kills, f.seals, f.gifts = g.Phase == Leaving, g.Phase == Over, float64(g.Ticks)/minute, g.Kills, g.Broken, g.Gifts
	if f.died {
		f.cause = nearest(g)
	}
	return f
}

// nearest names what is nearest to the ship, from surface to surface: what has ended it, while the game stands still.
func nearest(g *Game) (name string) {
	best := float32(math.MaxFloat32)
	for _, r := range g.cast.enemyFilter.All() {
		if d := engine.Distance(r.A.P, g.Player.P) - breeds[r.C.Kind].radius; d < best {
			best, name = d, r.C.Kind.String()
			if r.C.Charges() {
				name += "'s charge"
			}
		}
	}
	for _, r := range g.cast.shotFilter.All() {
		if d := engine.Distance(r.A.P, g.Player.P) - 4; r.C.Hostile && d < best {
			best, name = d, "orb"
		}
	}
	return name
}

// A tally sums fates up.
type tally struct {
	runs, wins, deaths, kills, seals int
	minutes                          float64
	with, without                    [GiftKinds]int // wins with a gift, and without it
	offered, had                     [GiftKinds]int // runs in which a gift was offered, and taken
	taken                            [GiftKinds]int // in all runs
	causes                           map[string]int
}

func (a *tally) add(f fate) {
	if a.causes == nil {
		a.causes = map[string]int{}
	}
	a.runs++
	a.kills += f.kills
	a.seals += f.seals
	a.minutes += f.minutes
	if f.died {
		a.deaths++
		a.causes[f.cause]++
	}
	for k, n := range f.gifts {
		a.taken[k] += int(n)
		if f.offered[k] > 0 {
			a.offered[k]++
		}
		if n > 0 {
			a.had[k]++
		}
		switch {
		case f.won && n > 0:
			a.with[k]++
		case f.won:
			a.without[k]++
		}
	}
	if f.won {
		a.wins++
	}
}

func (a *tally) print(t *testing.T, name string) {
	causes := slices.Sorted(maps.Keys(a.causes))
	for i, c := range causes {
		causes[i] = fmt.Sprintf("%s %d", c, a.causes[c])
	}
	runs := float64(a.runs)
	t.Logf("%s: %d of %d runs are won, %d end by death and %d by time; %.1f minutes, %.1f seals, %.0f kills a minute; ended by %s",
		name, a.wins, a.runs, a.deaths, a.runs-a.wins-a.deaths, a.minutes/runs, float64(a.seals)/runs, float64(a.kills)/a.minutes, strings.Join(causes, ", "))
	for k := range a.with {
		t.Logf("%s: %-15s offered in %3d runs, taken in %3d; %3d of these are won, and %3d of the %3d without it; %.2f a run", name, GiftNames[k],
			a.offered[k], a.had[k], a.with[k], a.without[k], a.runs-a.had[k], float64(a.taken[k])/runs)
	}
}

// What a model does is what the autopilot would have done some ticks before, about where that aims.
func TestModels_ActLateAndAimBeside(t *testing.T) {
	testenv.Long(t)
	m := model{late: 9, wrong: 0.1, looks: 1}
	h := newHost(t, Config{Seed: 4, Heat: 2}, small(), "ember")
	hand := m.hand(4)
	var saw []engine.Input
	beside := 0
	h.hand = func(g *Game) engine.Input {
		saw = append(saw, g.Autopilot())
		in := hand(g)
		n := len(saw) - 1 - m.late
		switch {
		case n < 0:
			if in != (engine.Input{}) {
				t.Errorf("tick %d: it acts before it has seen anything", len(saw))
			}
		case in.Move != saw[n].Move || in.Down != saw[n].Down:
			t.Errorf("tick %d: it does %v; want what was right at %d: %v", len(saw), in, n, saw[n])
		case engine.Dot(in.Aim, saw[n].Aim) < engine.LengthSquared(saw[n].Aim)*0.99:
			t.Errorf("tick %d: it aims at %v; want %v", len(saw), in.Aim, saw[n].Aim)
		case in.Aim != saw[n].Aim:
			beside++
		}
		return in
	}
	h.play(t, 300)
	if beside < 30 {
		t.Errorf("it aims beside in %d of 300 ticks", beside)
	}
}

// Win rates rise with skill, and no gift is in every won run or in none. Ten runs of each model for each of -seeds tell:
// see the nightly's part balance.
func TestBalance_WinRatesRiseWithSkill(t *testing.T) {
	testenv.Long(t)
	if *seeds == 0 { // a run takes ten seconds: here each model must fight for twenty seconds
		for _, m := range models {
			h := newHost(t, Config{Seed: 4, Heat: 2}, small(), "ember")
			h.hand = m.hand(4)
			if dead := h.until(t, minute/3, over); dead || h.Kills < 10 {
				t.Errorf("%s: %d kills in %d s, hull %d", m.name, h.Kills, h.Ticks/60, h.Player.Hull)
			}
		}
		return
	}
	runs := 10 * *seeds
	fates := make([][len(models)]fate, runs)
	t.Run("runs", func(t *testing.T) {
		for half := range 2 {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				for i := half; i < runs; i += 2 {
					name, seed := realm.Names[i/2%len(realm.Names)], 1000+uint64(i)
					for k, m := range models {
						t.Run("", func(t *testing.T) { // whose memory is given back after each run
							fates[i][k] = m.live(t, name, seed)
							t.Logf("%s on %s, seed %d: %+v", m.name, name, seed, fates[i][k])
						})
					}
				}
			})
		}
	})
	var tallies [len(models)]tally
	var all tally
	for k := range models {
		a := &tallies[k]
		for i := range fates {
			a.add(fates[i][k])
			all.add(fates[i][k])
		}
		a.print(t, models[k].name)
		if k > 0 && a.wins <= tallies[k-1].wins {
			t.Errorf("%d of %d runs of %s are won, and %d of %s", a.wins, runs, models[k].name, tallies[k-1].wins, models[k-1].name)
		}
	}
	all.print(t, "all")
	for k := range all.with {
		if all.with[k] == 0 || all.without[k] == 0 {
			t.Errorf("%s is in %d of %d won runs", GiftNames[k], all.with[k], all.wins)
		}
	}
}
