package meter

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// A program is a Go heap of which a test knows everything: when collections end, and what they find.
type program struct {
	live   live
	points points
	at     float64
	cycles uint64
	size   float64 // as the last collection found it
}

func newProgram() *program {
	p := &program{live: newLive()}
	p.look(0, 0)
	return p
}

func (p *program) look(size, allocated float64) {
	p.live.follow(p.live.when.IsZero(), p.cycles, 2*p.cycles)
	p.live.note(time.Unix(1000, 0).Add(time.Duration(p.at*1e9)), p.at, uint64(size), uint64(allocated), &p.points)
}

// collect ends a collection so many seconds after the last one, and returns the growth. The meter looks four times a
// second.
func (p *program) collect(after, size float64) float64 {
	end := p.at + after
	for p.at+0.25 < end {
		p.at += 0.25
		p.look(float64(p.live.heap.Live), 0)
	}
	p.at = end
	p.cycles++
	p.look(size, 0)
	return p.live.rate
}

// What a collection finds contains what was allocated while it ran: noise of so many bytes, never less than none.
func floating(rng *rand.Rand, noise float64) float64 { return rng.Float64() * noise }

func TestLive_ALeakIsNamedByTheFourthCollection(t *testing.T) {
	const leaks = 100 << 10
	for _, every := range []float64{4, 8, 20} {
		for _, noise := range []float64{0, 0.05, 0.1, 0.2} { // of what leaks between two collections
			for _, before := range []int{4, 10, 60} {
				late := 0
				for seed := 0; seed < 40; seed += testenv.Step(4) {
					rng := rand.New(rand.NewPCG(uint64(seed), 7))
					p := newProgram()
					size := func() float64 { return 400*mib + floating(rng, noise*leaks*every) }
					for range before {
						if growth := p.collect(every*(0.9+0.2*rng.Float64()), size()); growth >= leakLeast {
							t.Errorf("every %g s, noise %g, seed %d: growing by %.0f before the leak", every, noise, seed, growth)
						}
					}
					begins, named := p.at+rng.Float64()*every, false
					for k := 1; k <= 4; k++ {
						wait := every * (0.9 + 0.2*rng.Float64())
						growth := p.collect(wait, size()+max(p.at+wait-begins, 0)*leaks)
						named = growth >= leakLeast
						if named && math.Abs(growth/leaks-1) > 0.35 {
							t.Errorf("every %g s, noise %g, seed %d: %.0f bytes a second", every, noise, seed, growth)
						}
					}
					if !named {
						late++
					}
				}
				if late > 0 {
					t.Errorf("every %g s, noise %g, %d before: %d seeds are not named by the fourth collection", every, noise, before, late)
				}
			}
		}
	}
}

const leakLeast = leastLive

// A live size that changes without net growth is accused after less than 1.5 % of the collections, from the second
// minute on.
func TestLive_HealthyProgramsAreNotAccused(t *testing.T) {
	for name, of := range map[string]func(seed int) shape{
		"noise": func(seed int) shape {
			rng := rand.New(rand.NewPCG(uint64(seed), 1))
			return func(float64) float64 { return floating(rng, 3*mib) }
		},
		"caches that are filled": func(int) shape { return func(t float64) float64 { return 20 * mib * (1 - math.Exp(-t/15)) } },
	} {
		healthy(t, name, of)
	}
	for name, make := range shapes {
		for _, period := range []float64{1, 7, 30} {
			healthy(t, fmt.Sprintf("%s of %g s", name, period), func(seed int) shape {
				return make(period, rand.New(rand.NewPCG(uint64(seed), 3)))
			})
		}
	}
}

func healthy(t *testing.T, name string, of func(seed int) shape) {
	t.Helper()
	seeds := 1
	if os.Getenv(fullGrowth) != "" {
		seeds = 20
	}
	for _, every := range []float64{0.3, 1, 2.5, 8, 20} {
		if testenv.Short() && every != 1 && every != 8 {
			continue
		}
		accused, all := 0, 0
		for seed := range seeds {
			rng := rand.New(rand.NewPCG(uint64(seed), 2))
			p, live := newProgram(), of(seed)
			for p.at < 420 {
				wait := every * (0.8 + 0.4*rng.Float64())
				growth := p.collect(wait, 50*mib+live(p.at+wait)+floating(rng, 64<<10))
				if p.at < 120 {
					continue
				}
				if all++; growth >= leastLive {
					accused++
				}
			}
		}
		if share := float64(accused) / float64(all); share >= 0.015 && (seeds > 1 || share >= 0.05) {
			t.Errorf("%s, a collection every %g s: accused after %.1f %% of them", name, every, 100*share)
		}
	}
}

// A program loads 10 MiB a second for 40 s, with longer and longer waits for a collection, and then makes no garbage. What
// grew while it loaded is not reported for long after that, and not again at the next collection.
func TestLive_ALoadIsNotReportedAfterItsEnd(t *testing.T) {
	p := newProgram()
	named := false
	for _, wait := range []float64{1.2, 1.2, 2.4, 4.8, 9.6, 19.2} {
		named = named || p.collect(wait, 10*mib*(p.at+wait)) > 0
	}
	if !named {
		t.Error("six collections of a load: not growing")
	}
	for range 4 * 42 {
		p.at += 0.25
		p.look(float64(p.live.heap.Live), 0)
	}
	if p.live.rate != 0 {
		t.Errorf("%.0f s without a collection: growing by %.0f bytes a second", p.live.heap.Age.Seconds(), p.live.rate)
	}
	if growth := p.collect(60, 390*mib); growth != 0 {
		t.Errorf("a collection of what was loaded: growing by %.0f bytes a second", growth)
	}
}

// If a program goes on to make garbage, growth that has ended is not reported for longer than 100 s.
func TestLive_GrowthThatHasEndedIsNotReportedForLong(t *testing.T) {
	seeds := 2
	if os.Getenv(fullGrowth) != "" {
		seeds = 20
	}
	const begins, rate = 100, 100 << 10
	for _, lasts := range []float64{100, 300} {
		for _, every := range []float64{1, 4, 8, 20, 60} {
			for _, noise := range []float64{64 << 10, mib} {
				for seed := range seeds {
					rng := rand.New(rand.NewPCG(uint64(seed), 2))
					p, until := newProgram(), 0.0
					for p.at < begins+lasts+400 {
						wait := every * (0.8 + 0.4*rng.Float64())
						size := 50*mib + min(max(p.at+wait-begins, 0), lasts)*rate + floating(rng, noise)
						if p.live.rate >= leastLive {
							until = p.at + wait
						}
						p.collect(wait, size)
					}
					if until == 0 && every < 20 || until > begins+lasts+100 {
						t.Errorf("100 KiB/s for %g s, a collection every %g s, seed %d: reported until %.0f s after its end", lasts, every, seed, until-begins-lasts)
					}
				}
			}
		}
	}
}

// A leak is reported from one collection to the next, however rare they are.
func TestLive_ALeakOfRareCollectionsStaysNamed(t *testing.T) {
	p := newProgram()
	for k := range 20 {
		for range 4 * 60 {
			p.at += 0.25
			if p.look(float64(p.live.heap.Live), 0); k > 6 && p.live.rate < leakLeast {
				t.Fatalf("%.0f s after collection %d: not growing", p.live.heap.Age.Seconds(), k)
			}
		}
		p.collect(0.1, 50*mib+p.at*(100<<10))
	}
}

// Without a collection nothing is known, and afterwards what is known has an age.
func TestLive_IsAsOldAsTheLastCollection(t *testing.T) {
	p := newProgram()
	p.cycles = 5 // they ended before the meter began
	p.live = newLive()
	for range 10 {
		p.at++
		p.look(30*mib, p.at*5*mib)
		if h := p.live.heap; h.Known || h.Live != 0 || h.Age != 0 || p.at > 1 && h.Allocated != 5*mib {
			t.Fatalf("after %.0f s without a collection: %+v", p.at, h)
		}
	}
	p.collect(1, 40*mib)
	for range 12 {
		p.at++
		p.look(40*mib, 0)
	}
	if h := p.live.heap; !h.Known || h.Live != 40*mib || h.Age != 12*time.Second {
		t.Errorf("12 s after a collection: %+v", h)
	}
	if got, want := (Heap{Allocated: 2 * mib}).String(), "go heap: live size not known before a collection; 2.0 MiB allocated a second"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	h := Heap{Known: true, Live: 40 * mib, Age: 12 * time.Second}
	if got, want := h.String(), "go heap: live size 40.0 MiB as of 12 s ago; 0 B allocated a second"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Of the collections of a second the smallest counts, and only so many are stored.
func TestLive_StoresCollectionsASecondApart(t *testing.T) {
	p := newProgram()
	for k := range 4 * 3 * collections {
		p.collect(0.25, float64(100*mib+(k%4)*mib))
		if !p.live.check() {
			t.Fatalf("after %d collections: %+v", k+1, p.live)
		}
	}
	if p.live.known != collections {
		t.Errorf("%d collections are stored", p.live.known)
	}
	for i, v := range p.live.sizes {
		if v != 100*mib {
			t.Fatalf("collection %d: %.0f", i, v)
		}
	}
	for name, corrupt := range map[string]func(l *live){
		"known below": func(l *live) { l.known = -1 }, "known beyond": func(l *live) { l.known = collections + 1 },
		"next below": func(l *live) { l.next = -1 }, "next beyond": func(l *live) { l.next = collections },
		"order": func(l *live) { l.at[(l.next+5)%collections] = 1e9 },
	} {
		l := p.live
		if corrupt(&l); l.check() {
			t.Errorf("%s: check finds nothing", name)
		}
	}
}
