package game

import (
	"fmt"
	"io/fs"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/engine/stream"
)

// far is the game's files behind a line of 200 ms and so many bytes a second.
func farFiles(rate int64) fs.FS { return stream.Slow(assets.FS(), 200*time.Millisecond, rate) }

// flight streams so many ticks of a tour, of which the clock is the bubble's: what waits takes no time. The game
// stands still meanwhile.
func flight(t *testing.T, kind Tour, mib int, rate int64, ticks uint64) (*Session, *StandIn) {
	t.Helper()
	v := NewStandIn()
	s := newSession(t, SessionConfig{Game: Config{Seed: 7}, Ground: v, GroundBytes: mib << 20, FS: farFiles(rate)})
	play(t, s, 1)
	s.Paused = true
	way := newTour(kind, s.Game.Player.P)
	for n := range ticks {
		glide(t, s, way, n)
		if n%6000 == 0 {
			check(t, s)
		}
	}
	return s, v
}

func glide(t *testing.T, s *Session, way *tourPath, n uint64) {
	t.Helper()
	if err := s.Frame(engine.Input{}); err != nil {
		t.Fatal(err)
	}
	s.scenery.tick(way.at(n))
	if now, _, budget := s.GroundResident(); now > budget {
		t.Fatalf("tick %d: %d bytes are resident; the budget is %d", n, now, budget)
	}
	time.Sleep(time.Second / 60)
}

func TestTourExperiment(t *testing.T) {
	var kind, mib, ticks int
	var rate int64
	fmt.Sscan(os.Getenv("EXP"), &kind, &mib, &rate, &ticks)
	synctest.Test(t, func(t *testing.T) {
		s, v := flight(t, Tour(kind), mib, rate, uint64(ticks))
		p, st := s.GroundStats(), s.Stream.Stats()
		_, peak, budget := s.GroundResident()
		fmt.Printf("%v %d MiB rate %d: peak %.2f of %d, shown %d, soft %.4f of %.0f s, thrash %.4f of %d, dropped %d cancelled %d, lead %.2f worst %.2f, frame %d, stream cancels %d/%d/%d wasted %d, frag %.3f mean %.3f, lead %+v\n",
			Tour(kind), mib, rate, float64(peak)/(1<<20), budget>>20, v.Peak, p.Soft(), p.SeenSeconds, p.Thrash(), p.Asked, p.Dropped, p.Cancelled, p.LeadMedian, p.LeadWorst, st.FrameBytesMax,
			st.CancelledQueued, st.CancelledDecoding, st.CancelledReady, st.Wasted, st.Fragmentation, st.FragmentationMean, st.Lead)
		_ = ground.Bytes
	})
}
