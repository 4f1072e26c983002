package session

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/save"
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

// BenchmarkSession_States saves and loads the game in a ring of ten slots, in turn with two copies of the saved bytes. It
// prints the medians of the ratios to the first copy. The ratio of the second copy shows the noise.
func BenchmarkSession_States(b *testing.B) {
	for _, heat := range []float32{0, 5, 10} {
		b.Run(fmt.Sprintf("heat=%v", heat), func(b *testing.B) {
			s := synced(b, heat, 1200)
			set, err := s.States()
			if err = errors.Join(err, s.Rest()); err != nil {
				b.Fatal(err)
			}
			n, err := set.Size()
			if err != nil {
				b.Fatal(err)
			}
			var slots [10]*save.Slot
			var copies [10][]byte
			for i := range slots {
				slots[i], copies[i] = set.NewSlot(n), make([]byte, n)
				if err := set.Save(slots[i]); err != nil {
					b.Fatal(err)
				}
			}
			var times [4][]time.Duration
			timed := func(k int, f func() error) {
				began := time.Now()
				if err := f(); err != nil {
					b.Fatal(err)
				}
				times[k] = append(times[k], time.Since(began))
			}
			for i := 0; b.Loop(); i++ {
				slot, to, from := slots[i%10], copies[i%10], slots[(i+5)%10].Bytes()
				timed(0, func() error { copy(to, from); return nil })
				timed(2, func() error { return set.Save(slot) })
				timed(1, func() error { copy(to, from); return nil })
				timed(3, func() error { return set.Load(slot) })
			}
			var median [4]float64
			for k := range times {
				slices.Sort(times[k])
				median[k] = float64(times[k][len(times[k])/2])
			}
			b.ReportMetric(float64(n), "state-B")
			b.ReportMetric(median[0]/1e3, "copy-µs")
			for k, name := range []string{"copy/copy", "save/copy", "load/copy"} {
				b.ReportMetric(median[k+1]/median[0], name)
			}
		})
	}
}
