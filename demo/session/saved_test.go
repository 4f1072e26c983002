package session

import (
	"errors"
	"fmt"
	"math/rand/v2"
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
	type run struct {
		heat            float32
		ticks, distance int
	}
	runs := []run{{0, 40, 1}, {5, 24, 8}}
	if *whole {
		runs = []run{{5, 3600, 2}, {10, 600, 1}}
		for distance := 1; distance <= 8; distance++ {
			runs = append(runs, run{0, 200, distance}, run{5, 200, distance}, run{10, 200, distance})
		}
	}
	for _, c := range runs {
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

// Slots are saved and loaded in random order. After each load the game goes on with the hashes that it had when it first
// went on from there.
func TestSession_SlotsInRandomOrder(t *testing.T) {
	steps, again := 30, 20
	if *whole {
		steps, again = 10_000, 1000
	}
	s := synced(t, 5, 90)
	set, err := s.States()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	type moment struct {
		slot   *save.Slot
		hashes []uint64 // at the save, and after each tick since
	}
	var moments [6]moment
	loads, ended := 0, 0
	// load returns whether the state of m is loaded; it is not if its realm has ended.
	load := func(m *moment) bool {
		err := errors.Join(s.Rest(), set.Load(m.slot))
		if errors.Is(err, save.ErrLayout) {
			m.slot.Clear()
			ended++
			return false
		}
		if loads++; err != nil || s.Game.Hash() != m.hashes[0] {
			t.Fatalf("load %d: the hash is %x, was %x: %v", loads, s.Game.Hash(), m.hashes[0], err)
		}
		return true
	}
	for step := range steps {
		m := &moments[rng.IntN(len(moments))]
		switch {
		case m.slot == nil || !m.slot.Full() || rng.IntN(4) == 0:
			rest := s.Rest()
			n, err := set.Size()
			if m.slot == nil || n > m.slot.Cap() {
				m.slot = set.NewSlot(n + n/4)
			}
			if err = errors.Join(rest, err, set.Save(m.slot)); err != nil {
				t.Fatal(err)
			}
			m.hashes = append(m.hashes[:0], s.Game.Hash())
		case !load(m):
			continue
		}
		for i := 1; i <= 1+rng.IntN(6); i++ {
			if err := s.stepOnce(); err != nil {
				t.Fatal(err)
			}
			switch hash := s.Game.Hash(); {
			case i == len(m.hashes):
				m.hashes = append(m.hashes, hash)
			case m.hashes[i] != hash:
				t.Fatalf("step %d: %d ticks after a load the hash is %x, was %x", step, i, hash, m.hashes[i])
			}
		}
	}
	for range again {
		if m := &moments[0]; m.slot != nil && m.slot.Full() && !load(m) {
			break
		}
	}
	if err := errors.Join(s.Rest(), s.Check()); err != nil || loads < again || ended > steps/4 {
		t.Errorf("%d loads, %d of realms that had ended: %v", loads, ended, err)
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
