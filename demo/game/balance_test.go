package game

import (
	"flag"
	"testing"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

const minute = 60 * 60 // ticks

// idle touches nothing.
func idle(*Game) (in engine.Input) { return in }

func over(g *Game) bool { return g.Phase == Over }

func TestBalance_TheIdlePlayerDiesWithinTwoMinutes(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	for _, name := range realm.Names {
		for seed := uint64(7); seed < 8+uint64(*seeds); seed++ {
			h := newHost(t, Config{Seed: seed}, small(), name)
			h.hand = idle
			if !h.until(t, 2*minute, over) {
				t.Errorf("%s, seed %d: hull %d after two minutes of nothing", name, seed, h.Player.Hull)
			}
		}
	}
}

func TestBalance_StandingStillAndFiringBreaksNoSeal(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	still := func(g *Game) engine.Input {
		in := g.Autopilot()
		in.Move = vec{}
		in.Pressed.Set(Dash, false)
		return in
	}
	realms, games, _ := balanced()
	for _, name := range realms {
		for seed := range min(games, 4) {
			h := newHost(t, Config{Seed: uint64(6*seed) + 1}, small(), name)
			h.hand = still
			ticks := uint64(minute)
			if *seeds > 0 {
				ticks = 4 * minute
			}
			h.until(t, ticks, over)
			if h.Broken > 0 || h.Kills < 20 {
				t.Errorf("%s, seed %d: %d seals are broken, %d kills", name, 6*seed+1, h.Broken, h.Kills)
			}
		}
	}
}

// seeds is how many games are played of each kind: bash .ci/nightly balance plays what the design asks
// for, which takes some minutes.
var seeds = flag.Int("seeds", 0, "play this many seeds on every realm in the tests of the balance; 0: one, on the first")

// balanced are the realms and the seeds to play, and how many of them must go well: four of five.
func balanced() (realms []string, games, enough int) {
	if *seeds == 0 {
		return []string{"ember"}, 1, 1
	}
	return realm.Names[:], *seeds, *seeds * 8 / 10
}

func TestBalance_TheAutopilotFinishesARealmInThreeToSixMinutes(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	realms, games, enough := balanced()
	if *seeds == 0 { // a whole realm is the nightly's: here a minute must lead somewhere, and a slow hand's two
		h := newGame(t, Config{Seed: 1})
		h.until(t, minute, over)
		if g := h.Game; g.Phase == Over || g.Kills < 100 || g.Lost != (Lost{}) {
			t.Errorf("after %d s: phase %d, %d seals, %d kills, lost %+v", g.Ticks/60, g.Phase, g.Broken, g.Kills, g.Lost)
		}
		h.check(t)
		return
	}
	for _, name := range realms {
		finished := 0
		for seed := range games {
			h := newHost(t, Config{Seed: uint64(seed) + 1}, small(), name)
			most := 0
			ended := h.until(t, 6*minute, func(g *Game) bool {
				most = max(most, g.Enemies())
				return g.Phase == Over || g.Phase == Leaving
			})
			g := h.Game
			t.Logf("%s, seed %d: %d s, phase %d, %d seals, %d kills, %d enemies at most, gifts %v", name, seed+1, g.Ticks/60, g.Phase, g.Broken, g.Kills, most, g.Gifts)
			if ended && g.Phase == Leaving && g.Ticks >= 3*minute {
				finished++
				if most < 2000 {
					t.Errorf("%s, seed %d: %d enemies at most", name, seed+1, most)
				}
			}
			if g.Lost != (Lost{}) {
				t.Errorf("%s, seed %d: lost %+v with nothing scarce", name, seed+1, g.Lost)
			}
			h.check(t)
		}
		if finished < enough {
			t.Errorf("%s: %d of %d seeds finish in three to six minutes", name, finished, games)
		}
	}
}

// slowHand is a person: what it does is what the autopilot would have done a quarter of a second
// before, and it aims within 17 degrees or so of where it should.
func slowHand(seed uint64) func(g *Game) engine.Input {
	var late [15]engine.Input // 250 ms
	at, rng := 0, engine.NewRand(seed, 250)
	return func(g *Game) engine.Input {
		in := late[at]
		late[at] = g.Autopilot()
		at = (at + 1) % len(late)
		if in.Aim != (vec{}) {
			in.Aim = unit(engine.MulAdd(in.Aim, engine.Perp(in.Aim), rng.Range(-0.3, 0.3)))
		}
		return in
	}
}

func TestBalance_HandWithAQuarterSecondOfDelayLivesTwoMinutes(t *testing.T) {
	testenv.Longest(t)
	t.Parallel()
	realms, games, enough := balanced()
	for _, name := range realms {
		alive := 0
		for seed := range games {
			h := newHost(t, Config{Seed: uint64(seed) + 1}, small(), name)
			h.hand = slowHand(uint64(seed) + 1)
			dead := h.until(t, 2*minute, over)
			t.Logf("%s, seed %d: %d s, hull %d, %d seals, %d kills, gifts %v", name, seed+1, h.Ticks/60, h.Player.Hull, h.Broken, h.Kills, h.Gifts)
			if !dead && h.Broken > 0 {
				alive++
			}
		}
		if alive < enough {
			t.Errorf("%s: %d of %d live for two minutes", name, alive, games)
		}
	}
}

func TestGame_AnOfferIsHeldUntilAGiftIsChosen(t *testing.T) {
	testenv.Long(t)
	h := newGame(t, Config{Seed: 2})
	h.play(t, 2)
	g := h.Game
	g.gather(g, g.Need)
	if !g.Offered || g.Offer[0] == g.Offer[1] || g.Offer[1] == g.Offer[2] || g.Offer[0] == g.Offer[2] {
		t.Fatalf("offered %v: %v", g.Offered, g.Offer)
	}
	want := g.Offer
	g.Player.Safe = 60
	h.hand = idle
	h.play(t, 15*60-g.Ticks)
	if !g.Offered || g.Offer != want || g.Gifts != [GiftKinds]uint8{} {
		t.Errorf("ignored, the offer is %v %v, and there are %v", g.Offered, g.Offer, g.Gifts)
	}
	h.frame(t, engine.Input{Pressed: Choose2})
	if g.Offered || g.Gifts[want[1]] != 1 {
		t.Errorf("chosen, the offer is %v, and there are %v", g.Offered, g.Gifts)
	}
}

// crowdAbout has a player, who stands still and fires to the right, among drifters for five seconds,
// with or without a gift, taken so many times.
func crowdAbout(t *testing.T, gift Gift, times uint8) *Game {
	h := newGame(t, Config{Seed: 5})
	h.play(t, 1)
	g := h.Game
	g.Gifts[gift] = times
	g.enter(Fighting)
	for i := range 120 {
		at := g.Realm.Open(engine.MulAdd(g.Player.P, engine.Heading(float32(i)*0.3), 60+float32(i)), 9)
		if _, err := g.cast.spawn(g, 0, at, vec{}, postHorde); err != nil {
			t.Fatal(err)
		}
	}
	h.hand = func(g *Game) engine.Input {
		g.Player.Safe = 1
		return engine.Input{Aim: vec{1, 0}, Down: Fire}
	}
	h.play(t, 300)
	return g
}

func TestGifts_ChangeThePlay(t *testing.T) {
	testenv.Long(t)
	none := crowdAbout(t, GiftHull, 0)
	for _, k := range []Gift{GiftVolley, GiftSparks, GiftLightning, GiftMines, GiftBeam, GiftFire} {
		once, thrice := crowdAbout(t, k, 1), crowdAbout(t, k, 4)
		t.Logf("%s: %d kills without, %d with one, %d with four", GiftNames[k], none.Kills, once.Kills, thrice.Kills)
		if once.Kills <= none.Kills || thrice.Kills < once.Kills {
			t.Errorf("%s: %d kills without, %d with one, %d with four", GiftNames[k], none.Kills, once.Kills, thrice.Kills)
		}
	}
	if g := crowdAbout(t, GiftHaste, 4); g.haste() <= 1.3 || g.Kills <= none.Kills {
		t.Errorf("haste %v: %d kills", g.haste(), g.Kills)
	}
	if g := crowdAbout(t, GiftFrost, 3); g.cast.coldFilter.Len() == 0 {
		t.Error("frost chills nobody")
	}
}
