package meter

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// fullGrowth has the tests of growth run their whole matrix, which takes minutes: every period and rate, ten seeds.
const fullGrowth = "STRATA_GROWTH"

var periods = []float64{0.5, 1, 2, 3, 4, 5, 7, 8, 10, 13, 16, 20, 25, 30}

// A cell is one row of the matrix.
type cell struct {
	shape      string
	period, hz float64
}

// cells calls f for every shape, period and rate; without the whole matrix, for a sample in which each of them occurs.
func cells(t *testing.T, f func(t *testing.T, c cell, seeds int)) {
	names := []string{}
	for name := range shapes {
		names = append(names, name)
	}
	slices.Sort(names)
	full := os.Getenv(fullGrowth) != ""
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			for j, period := range periods {
				for k, hz := range rates {
					if name == "constant" && j > 0 || !full && (k != (i+j)%len(rates) || hz > 60 && j%4 != 0) {
						continue
					}
					if testing.Short() && (hz > 60 || (i+j)%3 != 0 && name != "constant") {
						continue // as under the race detector
					}
					if full {
						f(t, cell{name, period, hz}, 10)
					} else {
						f(t, cell{name, period, hz}, 1)
					}
				}
			}
		})
	}
}

func (c cell) String() string { return fmt.Sprintf("%s of %g s at %g Hz", c.shape, c.period, c.hz) }

// play runs the shape with a leak that begins after so many seconds.
func (c cell) play(seed int, until, begins float64, l leak, look func(t, growth float64)) {
	rng := rand.New(rand.NewPCG(uint64(seed), math.Float64bits(c.period)))
	of := shapes[c.shape](c.period, rng)
	var m simulation
	m.run(c.hz, until, rng, func(t float64) float64 {
		v := 50*mib + of(t)
		if t > begins {
			v += l(t - begins)
		}
		return v
	}, look)
}

// Net growth 0 is reported as growing less than 1 % of the time, from the second minute on.
func TestGrowth_HealthyProgramsAreNotAccused(t *testing.T) {
	cells(t, func(t *testing.T, c cell, seeds int) {
		accused, all, early := 0, 0, 0
		for seed := range seeds {
			c.play(seed, 720, 0, steady(0), func(t, growth float64) {
				if t < 120 {
					if growth > least {
						early++
					}
					return
				}
				if all++; growth > least {
					accused++
				}
			})
		}
		if share := float64(accused) / float64(all); share >= 0.01 && (seeds > 1 || share >= 0.05) {
			t.Errorf("%v: reported as growing %.1f %% of the time", c, 100*share)
		}
		if early > 12*seeds { // a tenth of the first two minutes
			t.Errorf("%v: reported as growing for %d s of the first 120", c, early/seeds)
		}
	})
}

// named returns how long a leak must last to be named, and by how much the reported rate is wrong, as a share of the
// true one: when it is named, and 20 s later.
func (c cell) named(seed int, begins, rate float64, l leak) (after, first, later float64) {
	after = math.Inf(1)
	c.play(seed, begins+320, begins, l, func(t, growth float64) {
		if t < begins || growth == 0 {
			return
		}
		if math.IsInf(after, 1) {
			after, first = t-begins, math.Abs(growth/rate-1)
		}
		if t-begins <= after+20 {
			later = math.Abs(growth/rate - 1)
		}
	})
	return after, first, later
}

// random are the shapes whose floor is noise. A leak under them is named, but its rate is known less well.
var random = []string{"batches", "ragged"}

// A tally is what the runs of a shape with a leak gave.
type tally struct {
	runs, late, wrong   int
	after, first, later float64 // at most
}

func TestGrowth_LeaksAreNamedInTime(t *testing.T) {
	tallies := map[string]*tally{}
	cells(t, func(t *testing.T, c cell, seeds int) {
		for name, x := range map[string]struct {
			rate, begins float64
			leak         leak
		}{
			"100 KiB/s":       {100 << 10, 120, steady(100 << 10)},
			"512 KiB in 5 s":  {512 << 10 / 5, 120, steps(5, 512<<10)},
			"20 KiB/s":        {20 << 10, 120, steady(20 << 10)},
			"20 KiB/s from 0": {20 << 10, 0, steady(20 << 10)},
		} {
			limit := 120.0
			switch fast := x.rate > 20<<10; {
			case !fast:
				limit = 300
			case c.shape == "constant" || c.shape == "sawtooth" && c.period <= 4:
				limit = 40
			}
			key := fmt.Sprintf("%-8s %s", c.shape, name)
			if tallies[key] == nil {
				tallies[key] = &tally{}
			}
			all := tallies[key]
			for seed := range seeds {
				begins := x.begins
				if begins > 0 {
					begins += 3.7 * float64(seed)
				}
				after, first, later := c.named(seed, begins, x.rate, x.leak)
				all.runs++
				if all.after, all.first, all.later = max(all.after, after), max(all.first, first), max(all.later, later); after > limit {
					all.late++
					t.Logf("%v, seed %d: a leak of %s is named after %.0f s, not %.0f", c, seed, name, after, limit)
				}
				if first > 0.2 {
					all.wrong++
				}
			}
		}
	})
	names := []string{}
	for name := range tallies {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		x := tallies[name]
		t.Logf("%s: named after %3.0f s at most, %d of %d too late; the rate wrong by %2.0f %% at most, by more than 20 in %d; 20 s later by %2.0f %%",
			name, x.after, x.late, x.runs, 100*x.first, x.wrong, 100*x.later)
		noisy := slices.Contains(random, strings.Fields(name)[0])
		if x.late > 0 && !noisy || x.late > 1+x.runs/50 {
			t.Errorf("%s: %d of %d leaks are named too late", name, x.late, x.runs)
		}
		// Four steps of a leak are seen as five, or three, where a period cuts them.
		if bound := 1 + x.runs/50; !noisy && x.wrong > bound && (!strings.HasSuffix(name, "in 5 s") || x.wrong > 5*bound) {
			t.Errorf("%s: the rate of %d of %d leaks is wrong by more than 20 %%", name, x.wrong, x.runs)
		}
	}
}

// A game that fills its pools for half a minute grows, and no longer than 40 s after that.
func TestGrowth_WarmUpEndsTheVerdict(t *testing.T) {
	for name, fill := range map[string]leak{
		"steady": func(t float64) float64 { return min(t, 30) * mib },
		"slower": func(t float64) float64 { return 30 * mib * (1 - math.Exp(-min(t, 30)/10)) },
		"steps":  func(t float64) float64 { return math.Floor(min(t, 30)/3) * 3 * mib },
		"once":   func(t float64) float64 { return 30 * mib },
	} {
		for _, begins := range []float64{0, 60, 200} {
			for _, other := range []cell{{"constant", 1, 60}, {"sawtooth", 4, 60}, {"sawtooth", 20, 60}, {"square", 7, 30}} {
				until := 0.0
				other.play(1, begins+300, begins, fill, func(at, growth float64) {
					if growth > 0 {
						until = at
					}
				})
				if until > begins+30+40 {
					t.Errorf("%s from %g s on, under %v: growing until %.0f s after its end", name, begins, other, until-begins-30)
				}
			}
		}
	}
}
