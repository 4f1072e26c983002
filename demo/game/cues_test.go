package game

import (
	"strings"
	"testing"

	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// A hull of two beats, one of one beats louder, and others do not.
func TestCues_TheHeartIsHeardWhenTheHullIsLow(t *testing.T) {
	testenv.Long(t)
	for hull, want := range map[int]string{1: "low 1.00", 2: "low 0.50", 3: ""} {
		tr := &tracer{}
		h := newGame(t, Config{Seed: 3, Sound: tr})
		h.hand = idle
		h.play(t, 120)
		tr.heard = nil
		h.Player.Hull, h.Player.Safe = hull, 9
		h.play(t, 2*beatEvery)
		beats := 0
		for _, s := range tr.heard {
			if strings.HasPrefix(s, "low") {
				beats++
				if !strings.HasPrefix(s, want) || want == "" {
					t.Errorf("hull %d: %s", hull, s)
				}
			}
		}
		if want != "" && beats != 2 {
			t.Errorf("hull %d: %d beats in %d ticks; want 2", hull, beats, 2*beatEvery)
		}
	}
}

// The ship's end is its own sound, not that of three wardens.
func TestCues_TheShipsEndAndAWardensFall(t *testing.T) {
	tr := &tracer{}
	h := newGame(t, Config{Seed: 3, Sound: tr})
	h.hand = idle
	h.play(t, 120)
	tr.heard = nil
	h.Player.Hull, h.Player.Safe, h.fresh = 1, 0, 0
	h.Player.hurt(h.Game, 1, vec{}, CauseShot)
	said := strings.Join(tr.heard, "\n")
	if strings.Count(said, "death") != 1 || strings.Contains(said, "fall") || strings.Contains(said, "burst") {
		t.Errorf("the ship's end is heard as %q", said)
	}
	h.frame(t, engine.Input{})
}
