package meter

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
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
					if !testenv.Full() && !full && name != "constant" && (i+j)%2 != 0 {
						continue
					}
					if testenv.Short() && (hz > 60 || (i+j)%3 != 0 && name != "constant") {
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
	m.run(jittered(c.hz, rng), until, func(t float64) float64 {
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
					if growth >= least {
						early++
					}
					return
				}
				if all++; growth >= least {
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

// A trial is how a leak under a shape was reported.
type trial struct {
	after float64 // seconds until it was named
	first float64 // by how much the rate was wrong then, as a share of the true one
	most  float64 // by how much it was wrong at most, from 20 s later on
	dark  float64 // share of the time after it was named in which nothing was
}

func (c cell) leak(seed int, begins, rate float64, l leak) trial {
	x := trial{after: math.Inf(1)}
	dark, all := 0, 0
	c.play(seed, begins+320, begins, l, func(t, growth float64) {
		since := t - begins
		if since <= 0 {
			return
		}
		wrong := math.Abs(growth/rate - 1)
		if growth >= least && math.IsInf(x.after, 1) {
			x.after, x.first = since, wrong
		}
		if since <= x.after {
			return
		}
		if all++; growth < least {
			dark++
		} else if since > x.after+20 {
			x.most = max(x.most, wrong)
		}
	})
	x.dark = float64(dark) / float64(max(all, 1))
	return x
}

// random are the shapes whose floor is noise. A leak under them is named, but its rate is known less well.
var random = []string{"batches", "ragged"}

// A tally is what the runs of a shape with a leak gave.
type tally struct {
	full                     bool
	runs, late, wrong, later int
	after, first, most       float64 // at most
	dark                     float64 // on average
}

func (x *tally) add(run trial, limit float64) {
	x.runs++
	if run.after > limit {
		x.late++
	}
	if run.first > 0.2 {
		x.wrong++
	}
	if run.most > 0.2 {
		x.later++
	}
	x.after, x.first, x.most = max(x.after, run.after), max(x.first, run.first), max(x.most, run.most)
	x.dark += run.dark
}

// A leaking is a leak of a test: its rate, and when it begins.
type leaking struct {
	name         string
	rate, begins float64
	leak         leak
	full         bool // in the whole matrix only: of these the rate is not judged
}

var leakings = []leaking{
	{"100 KiB/s", 100 << 10, 120, steady(100 << 10), false},
	{"512 KiB in 5 s", 512 << 10 / 5, 120, steps(5, 512<<10), false},
	{"20 KiB/s", 20 << 10, 120, steady(20 << 10), false},
	{"20 KiB/s from 0", 20 << 10, 0, steady(20 << 10), false},
	{"50 KiB/s", 50 << 10, 120, steady(50 << 10), true},
	{"3 MiB/s", 3 * mib, 120, steady(3 * mib), true}, // faster than the cycles: its rate is theirs as well, at first
}

// limit returns how many seconds a leak may last until it is named.
func (c cell) limit(x leaking) float64 {
	switch {
	case x.rate < 100<<10:
		return 300
	case c.shape == "constant" || c.shape == "sawtooth" && c.period <= 4:
		return 40
	}
	return 120
}

func TestGrowth_LeaksAreNamedInTime(t *testing.T) {
	testenv.Long(t)
	tallies := map[string]*tally{}
	full := os.Getenv(fullGrowth) != ""
	cells(t, func(t *testing.T, c cell, seeds int) {
		for _, x := range leakings {
			if x.full && !full {
				continue
			}
			limit, key := c.limit(x), fmt.Sprintf("%-8s %s", c.shape, x.name)
			all := tallies[key]
			if all == nil {
				all = &tally{full: x.full}
				tallies[key] = all
			}
			for seed := range seeds {
				begins := x.begins
				if begins > 0 {
					begins += 3.7 * float64(seed)
				}
				run := c.leak(seed, begins, x.rate, x.leak)
				if all.add(run, limit); run.after > limit {
					t.Logf("%v, seed %d: a leak of %s is named after %.0f s, not %.0f", c, seed, x.name, run.after, limit)
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
		tallies[name].judge(t, name)
	}
}

// judge wants every leak of a shape in time, its rate right to a fifth when it is named, and named from then on.
func (x *tally) judge(t *testing.T, name string) {
	dark := x.dark / float64(x.runs)
	t.Logf("%s: named after %3.0f s at most, %d of %d too late, not named for %.1f %% of the time from then on; the rate wrong by %2.0f %% at most, by more than 20 in %d; from 20 s later on by %2.0f %%, in %d",
		name, x.after, x.late, x.runs, 100*dark, 100*x.first, x.wrong, 100*x.most, x.later)
	shape := strings.Fields(name)[0]
	if x.late > map[string]int{"batches": 1 + x.runs/500, "ragged": 1 + x.runs/50}[shape] {
		t.Errorf("%s: %d of %d leaks are named too late", name, x.late, x.runs)
	}
	if slices.Contains(random, shape) {
		return
	}
	// How often a cycle meets the steps of a leak, and by how much frames miss its floor, is chance.
	if !x.full && (x.wrong > 1+x.runs/40 || x.later > 1+x.runs/100) {
		t.Errorf("%s: the rate of %d of %d leaks is wrong by more than 20 %%, and later of %d", name, x.wrong, x.runs, x.later)
	}
	if dark > 0.03 {
		t.Errorf("%s: not named for %.1f %% of the time", name, 100*dark)
	}
}

// A game that fills its pools for some time grows, and no longer than 40 s after that: a minute under a slow cycle.
func TestGrowth_WarmUpEndsTheVerdict(t *testing.T) {
	for _, lasts := range []float64{30, 90, 300} {
		if lasts > 90 && os.Getenv(fullGrowth) == "" {
			continue
		}
		for name, fill := range map[string]leak{
			"steady": func(t float64) float64 { return min(t, lasts) * mib },
			"slower": func(t float64) float64 { return 30 * mib * (1 - math.Exp(-min(t, lasts)*3/lasts)) },
			"steps":  func(t float64) float64 { return math.Floor(min(t, lasts)/3) * 3 * mib },
			"once":   func(t float64) float64 { return 30 * mib },
		} {
			for _, begins := range []float64{0, 60, 200} {
				for _, other := range []cell{{"constant", 1, 60}, {"sawtooth", 4, 60}, {"sawtooth", 20, 60}, {"square", 7, 30}} {
					until := 0.0
					other.play(1, begins+lasts+200, begins, fill, func(at, growth float64) {
						if growth > 0 {
							until = at
						}
					})
					limit := 40.0
					if other.period > 10 {
						limit = 60
					}
					if until > begins+lasts+limit {
						t.Errorf("%s for %g s from %g s on, under %v: growing until %.0f s after its end", name, lasts, begins, other, until-begins-lasts)
					}
				}
			}
		}
	}
}

// Growth that has ended under a slow cycle is not reported again by the blocks, which see the end later than the seconds.
func TestGrowth_ARampUnderASlowSineEndsForGood(t *testing.T) {
	const begins, lasts = 50, 300
	for seed := range 6 {
		until := 0.0
		cell{"sine", 30, 30}.play(seed, begins+lasts+150, begins, func(t float64) float64 { return min(t, lasts) * (100 << 10) }, func(t, growth float64) {
			if growth > 0 {
				until = t - begins - lasts
			}
		})
		if until > 60 {
			t.Errorf("seed %d: growing until %.0f s after the end", seed, until)
		}
	}
}

// Random batches after a ramp rise by chance above all that was before. They are accused for less than 1 % of ten minutes.
func TestGrowth_BatchesAfterARampAreNotAccused(t *testing.T) {
	seeds, full := 2, os.Getenv(fullGrowth) != ""
	if full {
		seeds = 40
	}
	for _, rate := range []float64{50 << 10, 100 << 10, mib} {
		for _, lasts := range []float64{90, 300} {
			if !full && (lasts < 300 || rate == mib) {
				continue
			}
			accused, all, most := 0, 0, 0.0
			for _, period := range []float64{20, 25, 30} {
				for _, begins := range []float64{0, 130} { // the batches begin after the ramp, or before it
					mine, begin := 0, all
					for seed := range seeds {
						rng := rand.New(rand.NewPCG(uint64(seed), 99))
						batches, end := shapes["batches"](period, rng), begins+lasts
						var m simulation
						m.run(jittered(30, rng), end+720, func(t float64) float64 {
							v := 50*mib + min(max(t-begins, 0), lasts)*rate
							if begins > 0 || t > end {
								v += batches(t)
							}
							return v
						}, func(t, growth float64) {
							if t < end+120 {
								return
							}
							if all++; growth >= least {
								mine++
							}
						})
					}
					accused += mine
					most = max(most, float64(mine)/float64(all-begin))
				}
			}
			share := float64(accused) / float64(all)
			t.Logf("%g KiB/s for %g s: reported as growing %.2f %% of the time, %.2f at most", rate/1024, lasts, 100*share, 100*most)
			if share >= 0.01 || full && most >= 0.01 {
				t.Errorf("%g KiB/s for %g s: reported as growing %.2f %% of the time, %.2f at most", rate/1024, lasts, 100*share, 100*most)
			}
		}
	}
}

// What a meter says of a pool is what the simulation says of the same figures.
func TestGrowth_AMeterJudgesAsTheSimulation(t *testing.T) {
	testenv.Long(t)
	for i, name := range slices.Sorted(maps.Keys(shapes)) {
		hz, period := rates[i%3], periods[(5*i)%len(periods)]
		const begins, until = 100, 240
		// The same figures for both: a shape is called in order.
		figure := func() func(t float64) float64 {
			of := shapes[name](period, rand.New(rand.NewPCG(3, 3)))
			return func(t float64) float64 { return math.Floor(50*mib + of(t) + max(t-begins, 0)*(100<<10)) }
		}
		var said [until + 2]float64
		var m simulation
		took := func(float64) float64 { return 1 / hz }
		m.run(took, until, figure(), func(t, growth float64) { said[int(t)] = growth })

		g := newGame(t, hz, tiers.Config{})
		books := memory.Stats{}
		fake(g.m, "figure", &books)
		now, value, start := 0.0, figure(), g.now
		differ, named := 0, false
		for now < until {
			books.InUse = uint64(value(now))
			g.now = start.Add(time.Duration(now * 1e9))
			must(t, g.m.BeginFrame())
			g.r.Frame()
			must(t, g.m.EndFrame())
			growth := g.r.Pools()[0].Growth
			// A meter judges a row once a second, in turn with others.
			if s := int(now); s > 4 && !slices.ContainsFunc(said[s-4:s+1], func(v float64) bool { return math.Abs(v-growth) <= 0.01*v }) {
				differ++
			}
			named = named || growth > 0
			now += 1 / hz
		}
		if differ > 0 || !named {
			t.Errorf("%s of %g s at %g Hz: differs in %d frames, named: %v", name, period, hz, differ, named)
		}
	}
}
