package game

import (
	"testing"
	"time"

	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/demo/level"
	"github.com/strata-go/strata/engine/stream"
)

// objectsEach returns how many objects of the Go heap it takes to load a file again, on the worker and on the
// goroutine of the game.
func objectsEach[T any](t *testing.T, s *Session, name string) float64 {
	t.Helper()
	const times = 20
	k := stream.Request[T](s.Stream, name, stream.ETA(0))
	defer k.Close()
	until := func(done func() bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(50 * time.Microsecond) {
			if s.Stream.Poll(); k.State() == stream.Failed || time.Now().After(end) {
				t.Fatal(name, k.State(), k.Err())
			}
		}
	}
	again := func() {
		n := s.Stream.Stats().Reloads
		s.Stream.Reload(name)
		until(func() bool { return s.Stream.Stats().Reloads > n })
	}
	until(func() bool { return k.State() == stream.Loaded })
	again()
	before := mallocs()
	for range times {
		again()
	}
	return float64(mallocs()-before) / times
}

// What an asset of each kind costs the Go heap is a small number, whatever it decodes to: the package comment of
// demo says them.
func TestAssets_OfEachKindTakeFewObjectsOfTheGoHeap(t *testing.T) {
	s := newSession(t, SessionConfig{Game: Config{Seed: 7}, Ground: NewStandIn(), GroundBytes: 8 * ground.Bytes})
	play(t, s, 1)
	still(t, s, under[0], func() bool { return s.allShown(under[0]) })
	if err := stream.Register(s.Stream, stream.Files()); err != nil {
		t.Fatal(err)
	}
	sector := ""
	for i, k := range s.scenery.tickets {
		if k.State() == stream.Loaded {
			sector = s.scenery.names[i]
		}
	}
	for _, c := range []struct {
		kind string
		have float64
		most float64
	}{
		{"picture", objectsEach[stream.Picture](t, s, "art/warden.png"), 130},
		{"stamps", objectsEach[stampPicture](t, s, "realms/ember/stamps.png"), 110},
		{"sector", objectsEach[sceneryPicture](t, s, sector), 12},
		{"level", objectsEach[*level.Level](t, s, "levels/ember.json"), 1600},
		{"realm", objectsEach[realmFile](t, s, "realms/ember.walls"), 8},
		{"raw", objectsEach[stream.File](t, s, "levels/tide.json"), 8},
	} {
		t.Logf("%s: %.1f objects", c.kind, c.have)
		if c.have > c.most {
			t.Errorf("a %s takes %.1f objects of the Go heap; the most is %g", c.kind, c.have, c.most)
		}
	}
}
