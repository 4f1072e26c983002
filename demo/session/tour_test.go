package session

import (
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/demo/tour"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// farFiles is the game's files behind a line of 200 ms and a megabyte a second.
func farFiles() fs.FS { return stream.Slow(assets.FS(), 200*time.Millisecond, 1e6) }

// flight streams so many ticks of a tour, of which the clock is the bubble's: what waits takes no time. The game
// stands still meanwhile. It returns what the frames took of a processor, in which there is little but the handing
// over: a machine that does other work, and a clock that stands still, do not blur that.
func flight(t *testing.T, kind tour.Kind, mib int, ticks uint64) (_ *Session, _ *StandIn, took []int64) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	v := NewStandIn()
	s := newSession(t, Config{Game: game.Config{Seed: 7}, View: v, GroundBytes: mib << 20, FS: farFiles()})
	play(t, s, 1)
	s.Paused = true
	way := tour.New(kind, s.Game.Player.P)
	for n := range ticks {
		took = append(took, glide(t, s, way, n))
		if n%6000 == 0 {
			check(t, s)
		}
	}
	return s, v, took
}

func glide(t *testing.T, s *Session, way *tour.Path, n uint64) (took int64) {
	t.Helper()
	began := cpuTime()
	if err := s.Frame(engine.Input{}); err != nil {
		t.Fatal(err)
	}
	took = cpuTime() - began
	s.Ground.tick(way.At(n))
	if now, _, budget := s.Ground.Resident(); now > budget {
		t.Fatalf("tick %d: %d bytes are resident; the budget is %d", n, now, budget)
	}
	time.Sleep(time.Second / 60)
	synctest.Wait() // pictures are ready, and not handed over
	if now, _, budget := s.Ground.Resident(); now > budget {
		t.Fatalf("behind tick %d: %d bytes are resident; the budget is %d", n, now, budget)
	}
	return took
}

// yardstick is the processor time of copying as many bytes as a frame may hand over. What else the
// machine does slows it as much as a frame.
func yardstick() time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	from, to := make([]byte, UploadBytes), make([]byte, UploadBytes)
	took := make([]int64, 101)
	for i := range took {
		began := cpuTime()
		for range 4 {
			copy(to, from)
		}
		took[i] = cpuTime() - began
	}
	slices.Sort(took)
	return time.Duration(took[len(took)/2])
}

// tourTicks is how long the tests of the tours fly: so many ticks, and ten minutes where whole realms are played.
func tourTicks(short uint64) uint64 {
	if *whole {
		return 36_000
	}
	return short
}

// What is wanted of streaming of each tour, with the least room and with much.
func TestTour_KeepsItsBudgetsFarFromItsFiles(t *testing.T) {
	testenv.Long(t)
	ticks := tourTicks(3000)
	for _, c := range []struct {
		kind tour.Kind
		mib  int
	}{{tour.Rows, 8}, {tour.Rows, 64}, {tour.Zigzag, 8}, {tour.Zigzag, 64}} {
		if c.kind == tour.Zigzag && !*whole {
			continue
		}
		t.Run(fmt.Sprintf("%v in %d MiB", c.kind, c.mib), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, v, took := flight(t, c.kind, c.mib, ticks)
				p, st := s.Ground.Stats(), s.Stream.Stats()
				slices.Sort(took)
				handOver := time.Duration(took[len(took)*999/1000])
				yard := yardstick()
				_, peak, budget := s.Ground.Resident()
				t.Logf("%.2f of %d MiB at most, %d sectors shown; soft %.2f %% of %.0f s; thrash %.2f %% of %d; cancelled %d; lead %.2f s, worst %.2f; frame %d bytes, p99.9 %v, longest %v; fragmentation %.3f, mean %.3f",
					float64(peak)/(1<<20), budget>>20, v.Peak, p.Soft()*100, p.SeenSeconds, p.Thrash()*100, p.Asked, st.CancelledQueued+st.CancelledDecoding,
					p.LeadMedian, p.LeadWorst, st.FrameBytesMax, handOver, time.Duration(took[len(took)-1]), st.Fragmentation, st.FragmentationMean)
				if peak > budget || peak < int64(v.Peak)*ground.Bytes || p.Soft() > 0.01 || p.Again > max(p.Asked/100, 2) || p.LeadMedian <= 0 ||
					st.FrameBytesMax > UploadBytes || handOver > 40*yard || max(st.Fragmentation, st.FragmentationMean) > 0.2 || st.Failures > 0 {
					t.Errorf("%+v\n%+v", p, st)
				}
				// A zig-zag comes back soon: what it asked for it will want. And with little room nothing is asked for
				// before it is nearly seen.
				if c.kind == tour.Rows && c.mib > 8 && st.CancelledQueued+st.CancelledDecoding == 0 {
					t.Error("nothing was cancelled where the tour turned about")
				}
				check(t, s)
			})
		})
	}
}

// Whatever the files take to come, and whatever room there is: the game ticks in every frame and is the same, it only
// looks softer.
func TestTour_SlowFilesAreOnlySofter(t *testing.T) {
	testenv.Long(t)
	ticks := tourTicks(900)
	fly := func(mib int, files fs.FS) (hash uint64, soft float64) {
		synctest.Test(t, func(t *testing.T) {
			cfg := Config{Game: game.Config{Seed: 7, Tour: tour.Rows}}
			if mib > 0 {
				cfg.View, cfg.GroundBytes, cfg.FS = NewStandIn(), mib<<20, files
			}
			s := newSession(t, cfg)
			play(t, s, 1)
			for s.Game.Ticks < ticks {
				before := s.Game.Ticks
				if err := s.Frame(engine.Input{}); err != nil {
					t.Fatal(err)
				}
				if s.Game.Ticks != before+1 {
					t.Fatal("a frame without a tick")
				}
				time.Sleep(time.Second / 60)
			}
			if _, peak, budget := s.Ground.Resident(); peak > budget {
				t.Errorf("%d bytes in room for %d", peak, budget)
			}
			check(t, s)
			hash, soft = s.Game.Hash(), s.Ground.Stats().Soft()
		})
		return hash, soft
	}
	want, _ := fly(0, nil)
	near, sharp := fly(64, farFiles())
	far, soft := fly(8, stream.Slow(assets.FS(), 3*time.Second, 1e5))
	if near != want || far != want {
		t.Errorf("hash %x, with the ground %x, with one from far away %x", want, near, far)
	}
	if !(soft > 2*sharp) {
		t.Errorf("%.3f is soft of what comes with 3 s of latency, %.3f with 200 ms", soft, sharp)
	}
}

// Five seconds after one has come to rest, what is there is a function of the place, whatever the way.
// TestGround_TwoWaysToAPlaceShowTheSame has it of two short ways.
func TestTour_TwoWaysToAPlaceAgree(t *testing.T) {
	if !*whole {
		t.Skip("takes half a minute: -whole plays it")
	}
	for _, mib := range []int{8, 64} {
		var sets [2]string
		for i := range sets {
			synctest.Test(t, func(t *testing.T) {
				s, _, _ := flight(t, tour.Rows, mib, [2]uint64{300, 36_000}[i])
				places := [][]vec{{{2000, 2000}, {6000, 2100}}, {{9000, 9000}, {9100, 2100}, {6000, 2100}}}[i]
				way, at := tour.Through(s.Game.Player.P, places...), places[len(places)-1]
				for n := range way.End() - 1 {
					glide(t, s, way, n)
				}
				for range 300 {
					if err := s.Frame(engine.Input{}); err != nil {
						t.Fatal(err)
					}
					s.Ground.tick(at, vec{})
					time.Sleep(time.Second / 60)
				}
				for k := range ground.Sectors * ground.Sectors {
					if x := (ground.Sector{X: uint8(k % ground.Sectors), Y: uint8(k / ground.Sectors)}); s.Ground.Shown(x) {
						sets[i] += fmt.Sprint(x)
					}
				}
				check(t, s)
			})
		}
		if sets[0] != sets[1] || len(sets[0]) < 20 {
			t.Errorf("%d MiB: %s\nand by another way %s", mib, sets[0], sets[1])
		}
	}
}
