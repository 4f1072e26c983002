package main

import (
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// playRealm runs the autopilot through five seconds of a realm, half a minute in the long tests, its end and the
// beginning of the next, with sound or without. It returns the game's hash.
func playRealm(t *testing.T, a *audio) (hash uint64) {
	t.Helper()
	end, beyond := uint64(300), uint64(60)
	if testenv.Full() {
		end, beyond = 1800, 300
	}
	cfg := session.Config{Game: game.Config{Seed: 7}, Memory: tiers.Config{Workers: 1, Tags: true}, FS: assets.FS(), Autopilot: true,
		Log: func(err error) { t.Error(err) }}
	if a != nil {
		cfg.Game.Sound, cfg.Left = &a.events, a.left
	}
	s, err := session.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	if a != nil {
		if err := a.start(s, &said); err != nil {
			t.Fatal(err)
		}
	}
	for next := uint64(0); s.RealmsEnded() == 0 || s.Game.Ticks < next; {
		switch g := s.Game; {
		case s.RealmsEnded() == 0 && g.Ticks == end && g.Phase != game.Leaving: // as behind the last seal
			g.Phase, g.PhaseTime, g.PortalAt = game.Leaving, 0, g.Player.P
		case s.RealmsEnded() == 0:
			next = g.Ticks + beyond
		}
		if err := s.Frame(engine.Input{}); err != nil {
			t.Fatal(err)
		}
		if a != nil {
			a.update(s, &render.Nav{})
		}
		if !s.Playing() {
			time.Sleep(100 * time.Microsecond) // the workers are loading
		}
	}
	if s.Game.Manifest.Name == "ember" {
		t.Errorf("after %d ticks it is in %s", s.Game.Ticks, s.Game.Manifest.Name)
	}
	hash = s.Game.Hash()
	if a != nil {
		if st := a.mixer.Stats(); st.Begun < end/18 {
			t.Errorf("in %d ticks %+v", s.Game.Ticks, st)
		}
		if n := strings.Count(said.String(), "\n"); n > 1 {
			t.Errorf("it says %q", said.String())
		}
		a.stop()
		a.stop()
	}
	if len(s.Leaks) == 0 {
		t.Errorf("no realm has ended in %d ticks", s.Game.Ticks)
	}
	if err := s.EndFrame(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, l := range s.Leaks {
		if l.Any() {
			t.Errorf("realm %d leaks %v", l.Level, l)
		}
	}
	return hash
}

// The objects of decoding a sound: those of its frames, and those of the library, which makes slices of each.
func TestAudio_ASoundTakesFewObjectsOfTheGoHeap(t *testing.T) {
	testenv.Long(t)
	s, err := session.New(session.Config{Game: game.Config{Seed: 7}, Memory: tiers.Config{Workers: 1, Tags: true}, FS: assets.FS(), Autopilot: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a := &audio{}
	if err := a.start(s, new(strings.Builder)); err != nil {
		t.Fatal(err)
	}
	defer a.stop()
	for _, name := range []string{"sound/hit_0.ogg", "sound/roar_0.ogg"} {
		data, err := fs.ReadFile(assets.FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		again := func() {
			n := s.Stream.Stats().Reloads
			s.Stream.Reload(name)
			testenv.Until(t, name, 50*time.Microsecond, func() bool { s.Stream.Poll(); return s.Stream.Stats().Reloads > n })
		}
		again()
		n := testenv.LeastObjects(10, again)
		if t.Logf("%s, %d bytes: %d objects", name, len(data), n); n > 600 {
			t.Errorf("%s takes %d objects", name, n)
		}
	}
}

func TestAudio_IsHeardAndTheGameIsTheSame(t *testing.T) {
	testenv.Long(t)
	if with, without := playRealm(t, &audio{}), playRealm(t, nil); with != without {
		t.Errorf("the hash is %x with sound and %x without", with, without)
	}
}
