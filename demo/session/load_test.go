package session

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// until plays frames, in which no ticks are expected, until done.
func until(t *testing.T, s *Session, done func() bool) (frames int) {
	t.Helper()
	for ; !done(); frames++ {
		if frames > 20_000 {
			t.Fatal("it takes too long")
		}
		if err := s.Frame(engine.Input{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	return frames
}

func TestSession_FramesGoOnWhileARealmIsReadAndBuilt(t *testing.T) {
	testenv.Long(t)
	pass := make(chan struct{})
	s := newSession(t, Config{Game: game.Config{Seed: 7}, FS: otherFiles{FS: assets.FS(), open: func(name string) {
		if strings.HasSuffix(name, ".walls") {
			<-pass
		}
	}}})
	n := 0
	until(t, s, func() bool { n++; return n > 50 }) // would hang
	if s.Playing() || s.Game.Ticks != 0 {
		t.Fatal("a game without walls")
	}
	close(pass)
	until(t, s, func() bool { return s.loading.build != nil })
	building := until(t, s, func() bool { return s.loading.build == nil })
	if building < 3 {
		t.Errorf("%d frames while the realm was built", building)
	}
	plain := newSession(t, Config{Game: game.Config{Seed: 7}})
	play(t, s, 100-s.Game.Ticks)
	play(t, plain, 100)
	if a, b := s.Game.Hash(), plain.Game.Hash(); a != b || s.Game.Lost.Walls != 0 {
		t.Errorf("hash %x, and %x of one that did not wait; %+v", a, b, s.Game.Lost)
	}
	check(t, s)
}

// A campaign whose last manifest names no successor ended in an error.
func TestSession_LastRealmLeadsToTheFirst(t *testing.T) {
	m := files(t)
	last := m["levels/tide.json"]
	m["levels/tide.json"] = &fstest.MapFile{Data: bytes.Replace(last.Data, []byte(`"next": "spore"`), []byte(`"next": ""`), 1)}
	s := newSession(t, Config{Game: game.Config{Seed: 7}, FS: m})
	for i, want := range []string{"ember", "tide", "ember"} {
		play(t, s, 1)
		g := s.Game
		if round := i / 2; g.Manifest.Name != want || g.Round != round {
			t.Fatalf("realm %d: %s in round %d; want %s in round %d", i, g.Manifest.Name, g.Round, want, round)
		}
		g.Phase, g.PhaseTime = game.Leaving, 2*leaveTime
		if err := s.Frame(engine.Input{}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSession_RealmMayBeLeftWhileItIsBuilt(t *testing.T) {
	testenv.Long(t)
	s := newSession(t, Config{Game: game.Config{Seed: 7}})
	for _, next := range []string{"tide", "spore"} {
		until(t, s, func() bool { return s.loading.build != nil })
		check(t, s)
		s.Flow.Go(next)
		if play(t, s, 1); s.Game.Manifest.Name != next {
			t.Errorf("%s is played; want %s", s.Game.Manifest.Name, next)
		}
		s.Game.Restart()
		s.Flow.Go(next)
	}
	until(t, s, func() bool { return s.loading.build != nil })
	for i, l := range s.Leaks {
		if l.Any() {
			t.Errorf("realm %d leaks %+v", i, l)
		}
	}
	if err := s.Close(); err != nil { // in the midst of it
		t.Error(err)
	}
}

// If one of a realm's files cannot be read, the other one is not kept on the Go heap either.
func TestSession_AMissingFileOfARealmKeepsNoOther(t *testing.T) {
	testenv.Long(t)
	for _, missing := range realm.Files("ember") {
		synctest.Test(t, func(t *testing.T) {
			var told []string
			files := otherFiles{FS: slowManifests{assets.FS()}, other: map[string][]byte{}}
			for _, name := range realm.Files("ember") {
				files.other[name] = asset(t, name)
			}
			files.other[missing] = nil
			s := newSession(t, Config{FS: files, Log: func(err error) { told = append(told, err.Error()) }})
			play(t, s, 1)
			for i, f := range s.loading.files {
				if f.State() != stream.Vacant {
					t.Errorf("without %s: file %d is %v", missing, i, f.State())
				}
			}
			bare := func(text string) bool {
				return strings.Contains(text, missing) && strings.Contains(text, "the ground is bare")
			}
			if !slices.ContainsFunc(told, bare) {
				t.Errorf("without %s: %q", missing, told)
			}
		})
	}
}
