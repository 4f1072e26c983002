package session

import (
	"testing"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// synced returns a session on autopilot that has played warm ticks at a heat.
func synced(t testing.TB, heat float32, warm uint64) *Session {
	t.Helper()
	s := newSession(t, Config{Game: game.Config{Seed: 3, Heat: heat, Particles: 100_000}, Autopilot: true})
	for s.Game.Ticks < warm {
		if err := s.Frame(engine.Input{}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestSession_Synctest(t *testing.T) {
	for _, c := range []struct {
		heat            float32
		ticks, distance int
	}{{0, 40, 1}, {5, 24, 8}} {
		warm, ticks := uint64(120), c.ticks
		if !testenv.Brief() {
			warm, ticks = 900, 10*c.ticks
		}
		s := synced(t, c.heat, warm)
		done, err := s.Synctest(ticks, c.distance)
		if err != nil || done.Ticks+done.Skipped != ticks || done.Loads == 0 || done.Skipped > ticks/4 {
			t.Errorf("heat %v: %+v, %v", c.heat, done, err)
		}
		t.Logf("heat %v: %+v, %d entities", c.heat, done, s.Game.Entities())
	}
}
