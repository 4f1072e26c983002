package game

import (
	"testing"
)

func TestPace(t *testing.T) {
	for _, seed := range []uint64{1, 2, 3, 7, 42} {
		s := newSession(t, SessionConfig{Game: Config{Seed: seed}})
		deaths := 0
		var times [6]int
		for i := 0; i < 400*6 && s.Levels() == 0; i++ {
			over := s.Game.Phase == Over
			b := s.Game.Broken
			play(t, s, 10)
			if s.Game.Broken > b {
				times[s.Game.Broken] = int(s.Game.Ticks / 60)
			}
			if s.Game.Phase == Over && !over {
				deaths++
			}
			if s.Game.Broken == 4 && s.Game.Woken && times[5] == 0 {
				times[5] = int(s.Game.Ticks / 60)
			}
		}
		g := s.Game
		t.Logf("seed %d: %d s, %d deaths, levels %d, phase %d, broken %d at %v; hull %d, kills %d gifts %v %.1f", seed, g.Ticks/60, deaths, s.Levels(), g.Phase, g.Broken, times, g.Player.Hull, g.Kills, g.Gifts, g.Heat)
	}
}
