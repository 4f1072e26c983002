package main

import (
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// playLevel runs the autopilot through half a minute of a level, its end and the beginning of the next, with sound
// or without, and returns the game's hash.
func playLevel(t *testing.T, a *audio) (hash uint64) {
	t.Helper()
	cfg := game.SessionConfig{Game: game.Config{Seed: 7}, Memory: tiers.Config{Workers: 1, Tags: true}, FS: assets.FS(), Autopilot: true,
		Log: func(err error) { t.Error(err) }}
	if a != nil {
		cfg.Game.Sound, cfg.Left = &a.events, a.left
	}
	s, err := game.NewSession(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	if a != nil {
		if err := a.start(s, &said); err != nil {
			t.Fatal(err)
		}
	}
	for next := uint64(0); s.Levels() == 0 || s.Game.Ticks < next; {
		switch g := s.Game; {
		case s.Levels() == 0 && g.Ticks == 1800 && g.Phase != game.Leaving: // as behind the last seal
			g.Phase, g.PhaseTime, g.PortalAt = game.Leaving, 0, g.Player.P
		case s.Levels() == 0:
			next = g.Ticks + 300
		}
		if err := s.Frame(engine.Input{}); err != nil {
			t.Fatal(err)
		}
		if a != nil {
			a.update(s, &render.Nav{})
		}
	}
	if s.Game.Level.Name == "ember" {
		t.Errorf("after %d ticks it is in %s", s.Game.Ticks, s.Game.Level.Name)
	}
	hash = s.Game.Hash()
	if a != nil {
		if st := a.mixer.Stats(); st.Begun < 100 {
			t.Errorf("in %d ticks %+v", s.Game.Ticks, st)
		}
		if n := strings.Count(said.String(), "\n"); n > 1 {
			t.Errorf("it says %q", said.String())
		}
		a.stop()
		a.stop()
	}
	if len(s.Leaks) == 0 {
		t.Errorf("no level has ended in %d ticks", s.Game.Ticks)
	}
	if err := s.EndFrame(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, l := range s.Leaks {
		if l.Any() {
			t.Errorf("level %d leaks %v", l.Level, l)
		}
	}
	return hash
}

// A sound that is decoded anew, its frames and those of the library, which makes slices of each.
func TestAudio_ASoundTakesFewObjectsOfTheGoHeap(t *testing.T) {
	s, err := game.NewSession(game.SessionConfig{Game: game.Config{Seed: 7}, Memory: tiers.Config{Workers: 1, Tags: true}, FS: assets.FS(), Autopilot: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a := &audio{}
	if err := a.start(s, new(strings.Builder)); err != nil {
		t.Fatal(err)
	}
	defer a.stop()
	var objects [2]float64
	for i, name := range []string{"sound/hit_0.flac", "sound/roar_0.flac"} {
		data, err := fs.ReadFile(assets.FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		again := func() {
			n := s.Stream.Stats().Reloads
			for s.Stream.Reload(name); s.Stream.Stats().Reloads == n; s.Stream.Poll() {
				time.Sleep(50 * time.Microsecond)
			}
		}
		again()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 10 {
			again()
		}
		runtime.ReadMemStats(&after)
		objects[i] = float64(after.Mallocs-before.Mallocs) / 10
		t.Logf("%s, %d bytes: %.1f objects", name, len(data), objects[i])
		if objects[i] > 600 {
			t.Errorf("%s takes %.1f objects", name, objects[i])
		}
	}
}

func TestAudio_IsHeardAndTheGameIsTheSame(t *testing.T) {
	if with, without := playLevel(t, &audio{}), playLevel(t, nil); with != without {
		t.Errorf("the hash is %x with sound and %x without", with, without)
	}
}
