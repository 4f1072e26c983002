package game

import (
	"testing"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// firsts are the realms that a run can begin with, and how many seeds to play on each.
func firsts() (realms []string, games uint64) {
	if !testenv.Night() {
		return []string{"ember"}, 1
	}
	return realm.Names[:], max(2, uint64(*seeds))
}

// close returns how many enemies the player sees on a screen of the logical size.
func (h *host) close() (n int) {
	for _, e := range h.cast.enemyFilter.All() {
		if d := e.A.P.Sub(h.Player.P); max(d[0], -d[0]) < 320 && max(d[1], -d[1]) < 180 && h.Realm.Sees(h.Player.P, e.A.P) {
			n++
		}
	}
	return n
}

func TestFirstMinute_EnemiesAreCloseWithinThreeSeconds(t *testing.T) {
	realms, seeds := firsts()
	for _, name := range realms {
		for seed := range seeds {
			h := newHost(t, Config{Seed: seed}, small(), name)
			h.hand = idle
			if h.play(t, 3*60); h.close() < scouts-1 {
				t.Errorf("%s, seed %d: %d of %d scouts are in sight after three seconds", name, seed, h.close(), scouts)
			}
		}
	}
}

func TestFirstMinute_WhoDoesNothingLives(t *testing.T) {
	testenv.Long(t)
	realms, seeds := firsts()
	for _, name := range realms {
		for seed := range seeds {
			h := newHost(t, Config{Seed: seed}, small(), name)
			h.hand = idle
			if h.until(t, minute, over) || h.Player.Hull != 1 {
				t.Errorf("%s, seed %d: hull %d after %d ticks of nothing", name, seed, h.Player.Hull, h.Ticks)
			}
		}
	}
}

func TestFirstMinute_TheHordeWaitsForTheFirstKill(t *testing.T) {
	testenv.Long(t)
	h := newHost(t, Config{Seed: 3}, small(), "ember")
	h.hand = idle
	if h.play(t, 600); h.Enemies() > scouts {
		t.Fatalf("%d enemies, and none has fallen", h.Enemies())
	}
	h.Kills++
	if h.play(t, 600); h.Enemies() <= scouts {
		t.Errorf("%d enemies, ten seconds after the first has fallen", h.Enemies())
	}
}

func TestFirstMinute_TheLastPointIsLostAfterIt(t *testing.T) {
	s := newStage(t)
	s.clear()
	for _, fresh := range []int{1, 0} {
		s.fresh = fresh
		s.Player.Hull, s.Player.Safe = 1, 0
		if s.Player.hurt(s.Game, 2, middle, CauseShot); s.Player.Alive != (fresh > 0) {
			t.Errorf("%d ticks are left, and the player lives: %v", fresh, s.Player.Alive)
		}
	}
}

func TestFirstMinute_HotAndStressRunsHaveNone(t *testing.T) {
	for _, cfg := range []Config{{Heat: 1}, {Enemies: 10}} {
		if h := newHost(t, cfg, small(), ""); h.fresh != 0 {
			t.Errorf("%+v: %d ticks", cfg, h.fresh)
		}
	}
	h := newHost(t, Config{}, small(), "ember")
	if h.play(t, 10); h.fresh != firstMinute-10 {
		t.Errorf("%d ticks are left after ten", h.fresh)
	}
}

func TestFirstMinute_GiftIsOfferedWithinTwentySeconds(t *testing.T) {
	testenv.Long(t)
	realms, seeds := firsts()
	for _, name := range realms {
		for seed := range seeds {
			h := newHost(t, Config{Seed: seed}, small(), name)
			h.hand = slowHand(seed)
			if !h.until(t, 20*60, func(g *Game) bool { return g.Offered }) {
				t.Errorf("%s, seed %d: no gift, %d kills, %d embers", name, seed, h.Kills, h.Embers)
			}
		}
	}
}
