package session

import (
	"testing"
	"time"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/demo/realm/manifest"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// objectsEach returns how many objects of the Go heap it takes to load a file again, on the worker and on the
// goroutine of the game.
func objectsEach[T any](t *testing.T, s *Session, name string) uint64 {
	t.Helper()
	k := stream.Request[T](s.Stream, name, stream.ETA(0))
	defer k.Close()
	until := func(done func() bool) {
		t.Helper()
		testenv.Until(t, name, 50*time.Microsecond, func() bool {
			if s.Stream.Poll(); k.State() == stream.Failed {
				t.Fatal(name, k.Err())
			}
			return done()
		})
	}
	quiet := func() bool { // the delivery of another asset is not taken for this one
		st := s.Stream.Stats()
		return st.Queued == 0 && st.InFlight == 0 && st.Ready == 0
	}
	again := func() {
		n := s.Stream.Stats().Deliveries
		s.Stream.Reload(name)
		until(func() bool { return s.Stream.Stats().Deliveries > n && quiet() })
	}
	until(func() bool { return k.State() == stream.Loaded && quiet() })
	again()
	return testenv.LeastObjects(10, again)
}

// What an asset of each kind costs the Go heap is a small number, whatever it decodes to: the package comment of
// demo says them.
func TestAssets_OfEachKindTakeFewObjectsOfTheGoHeap(t *testing.T) {
	testenv.Long(t)
	s := newSession(t, Config{Game: game.Config{Seed: 7}, View: NewStandIn(), GroundBytes: 8 * ground.Bytes})
	play(t, s, 1)
	still(t, s, under[0], func() bool { return s.allShown(under[0]) })
	if err := stream.Register(s.Stream, stream.Files()); err != nil {
		t.Fatal(err)
	}
	sector := ""
	for i := range s.Ground.sectors {
		if x := &s.Ground.sectors[i]; x.ticket.State() == stream.Loaded {
			sector = x.name
		}
	}
	for _, c := range []struct {
		kind string
		have uint64
		most uint64
	}{
		{"picture", objectsEach[stream.Picture](t, s, "art/warden.png"), 130},
		{"stamps", objectsEach[stampsPicture](t, s, "realms/ember/stamps.png"), 110},
		{"sector", objectsEach[sectorPicture](t, s, sector), 12},
		{"manifest", objectsEach[*manifest.File](t, s, "levels/ember.json"), 1600},
		{"realm", objectsEach[realmFile](t, s, "realms/ember.walls"), 8},
		{"raw", objectsEach[stream.File](t, s, "levels/tide.json"), 8},
	} {
		t.Logf("%s: %d objects", c.kind, c.have)
		if c.have == 0 || c.have > c.most {
			t.Errorf("a %s takes %d objects of the Go heap; the most is %d", c.kind, c.have, c.most)
		}
	}
}
