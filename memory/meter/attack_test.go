package meter

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// An attack is a healthy figure that is made to be accused, and under which a leak is made to be missed.
type attack struct {
	of    func(rng *rand.Rand) shape
	named float64                                      // seconds after which a leak of 100 KiB/s is named under it; 0 if its cycle is too long for that
	took  func(rng *rand.Rand) func(t float64) float64 // of frames; nil for 30 Hz
	first float64                                      // seconds of its first cycle, if that is longer than two minutes: it grows until it has fallen
}

func twoSawtooths(a, b float64) func(rng *rand.Rand) shape {
	return func(rng *rand.Rand) shape { return together(sawtooth(a)(rng), sawtooth(b)(rng)) }
}

func sawtooth(period float64) func(rng *rand.Rand) shape {
	return func(rng *rand.Rand) shape { return shapes["sawtooth"](period, rng) }
}

// triangle rises for so long by a MiB a second, and falls to 0 in the rest of the period.
func triangle(rises, period float64) func(rng *rand.Rand) shape {
	return func(rng *rand.Rand) shape {
		phase := rng.Float64() * period
		return func(t float64) float64 {
			t = math.Mod(t+phase, period)
			return mib * min(t, (period-t)*rises/(period-rises))
		}
	}
}

func together(all ...shape) shape {
	return func(t float64) (v float64) {
		for _, of := range all {
			v += of(t)
		}
		return v
	}
}

// anyShape is one of the shapes, with a period of half a second to half a minute.
func anyShape(rng *rand.Rand) shape {
	names := []string{"sawtooth", "square", "sine", "stairs", "batches", "bursts", "ragged"}
	return shapes[names[rng.IntN(len(names))]](0.5*math.Pow(60, rng.Float64()), rng)
}

// phases are figures that follow each other, each for a time from a to b.
func phases(rng *rand.Rand, a, b float64, next func() shape) shape {
	begin, end, of := 0.0, 0.0, shape(nil)
	return func(t float64) float64 {
		for of == nil || t >= end {
			begin, end, of = end, end+a+(b-a)*rng.Float64(), next()
		}
		return of(t - begin)
	}
}

// halting is a figure whose time stands still for 5 to 60 seconds, every 20 to 120.
func halting(rng *rand.Rand, of shape) shape {
	at, last, end, stands := 0.0, 0.0, 0.0, true
	return func(t float64) float64 {
		for t >= end {
			if stands = !stands; stands {
				end += 5 + 55*rng.Float64()
			} else {
				end += 20 + 100*rng.Float64()
			}
		}
		if !stands {
			at += t - last
		}
		last = t
		return of(at)
	}
}

// everyFrame is another size in each of n frames.
func everyFrame(n int, size float64) func(*rand.Rand) shape {
	return func(*rand.Rand) shape {
		k := 0
		return func(float64) float64 { k++; return float64(k%n) * size }
	}
}

var attacks = map[string]attack{
	"two cycles of 7 and 30 s":             {of: twoSawtooths(7, 30), named: 180},
	"a beat of 4 and 4.1 s":                {of: twoSawtooths(4, 4.1), named: 120},
	"a sawtooth of 45 s":                   {of: sawtooth(45), named: 180},
	"a sawtooth of a minute":               {of: sawtooth(60), named: 200},
	"a sawtooth of 100 s":                  {of: sawtooth(100)},
	"a sine of 90 s":                       {of: func(rng *rand.Rand) shape { return shapes["sine"](90, rng) }},
	"a sawtooth of 210 s":                  {of: sawtooth(210), first: 440},
	"a triangle of 40 s that falls slowly": {of: triangle(30, 40), named: 150},
	"a triangle of 45 s that falls fast":   {of: triangle(40, 45), named: 170},
	"teeth that grow and shrink": {of: func(*rand.Rand) shape {
		return func(t float64) float64 { return math.Mod(t, 5) * mib * (1.2 + math.Sin(t/40)) }
	}, named: 60},
	"a floor that rises and falls with its teeth": {of: func(*rand.Rand) shape {
		return func(t float64) float64 { return (1 + math.Sin(t*2*math.Pi/45)) * (4 + math.Mod(t, 4)) * mib }
	}, named: 150},
	"five waves, each higher": {of: func(*rand.Rand) shape {
		return func(t float64) float64 { return math.Mod(t, 10) * mib / 2 * (1 + math.Floor(math.Mod(t, 50)/10)) }
	}, named: 60},
	"every other frame 4 MiB": {of: everyFrame(2, 4*mib), named: 80},
	"three frames of 10 MiB":  {of: everyFrame(3, 5*mib), named: 120},
	"frames of 0 to 4 MiB":    {of: func(rng *rand.Rand) shape { return func(float64) float64 { return rng.Float64() * 4 * mib } }, named: 60},
	"batches that live long": {of: func(rng *rand.Rand) shape {
		return batches(rng, func() (wait, life, size float64) {
			return 3 * rng.ExpFloat64(), 20 * rng.ExpFloat64(), (16 + 1008*rng.Float64()) * 1024
		})
	}, named: 200},
	"batches of which few are huge": {of: func(rng *rand.Rand) shape {
		return batches(rng, func() (wait, life, size float64) {
			return 2 * rng.ExpFloat64(), 20 * rng.Float64(), min(16384/rng.Float64(), 200*mib)
		})
	}, named: 100},
	"levels loaded every 40 s, freed every 160": {of: func(rng *rand.Rand) shape {
		phase := rng.Float64() * 160
		return func(t float64) float64 { return math.Floor(math.Mod(t+phase, 160)/40) * 10 * mib }
	}, named: 200, first: 210},
	"rounds of 20 to 60 s": {of: func(rng *rand.Rand) shape {
		return phases(rng, 20, 60, func() shape { return func(t float64) float64 { return t * mib } })
	}, named: 220},
	"rounds that fill 20 MiB": {of: func(rng *rand.Rand) shape {
		return phases(rng, 20, 60, func() shape { return func(t float64) float64 { return 20 * mib * (1 - math.Exp(-t/15)) } })
	}, named: 220},
	"plateaus of 10 to 60 s": {of: func(rng *rand.Rand) shape {
		return phases(rng, 10, 60, func() shape { v := rng.Float64() * 20 * mib; return func(float64) float64 { return v } })
	}},
	"another shape every 20 to 90 s": {of: func(rng *rand.Rand) shape {
		return phases(rng, 20, 90, func() shape {
			v := rng.Float64() * 20 * mib
			return together(anyShape(rng), func(float64) float64 { return v })
		})
	}},
	"two shapes at once":           {of: func(rng *rand.Rand) shape { return together(anyShape(rng), anyShape(rng)) }, named: 120},
	"a cycle of 4 s that halts":    {of: func(rng *rand.Rand) shape { return halting(rng, sawtooth(4)(rng)) }, named: 120},
	"a cycle of 20 s that halts":   {of: func(rng *rand.Rand) shape { return halting(rng, sawtooth(20)(rng)) }},
	"frame rates that change":      {of: sawtooth(7), named: 80, took: changingRates},
	"frames of up to ten seconds":  {of: sawtooth(7), named: 100, took: longFrames},
	"a frame a second":             {of: sawtooth(7.3), named: 80, took: func(rng *rand.Rand) func(float64) float64 { return jittered(1, rng) }},
	"a cycle of almost two frames": {of: sawtooth(2.005 / 30), named: 120, took: func(*rand.Rand) func(float64) float64 { return func(float64) float64 { return 1.0 / 30 } }},
}

func changingRates(rng *rand.Rand) func(t float64) float64 {
	return func(t float64) float64 { return (0.9 + 0.2*rng.Float64()) / rates[int(t/17)%len(rates)] }
}

func longFrames(rng *rand.Rand) func(t float64) float64 {
	return func(float64) float64 {
		if rng.IntN(1000) == 0 {
			return 9.9 * rng.Float64()
		}
		return 1.0 / 30
	}
}

// play runs an attack with a leak of so many bytes a second, from a moment on.
func (a *attack) play(seed int, until, begins, rate float64, look func(t, growth float64)) {
	rng := rand.New(rand.NewPCG(uint64(seed), 5))
	of, took := a.of(rng), jittered(30, rng)
	if a.took != nil {
		took = a.took(rng)
	}
	var m simulation
	m.run(took, until, func(t float64) float64 { return 50*mib + of(t) + max(t-begins, 0)*rate }, look)
}

func attackSeeds() int {
	if os.Getenv(fullGrowth) != "" {
		return 10
	}
	return 2
}

func TestGrowth_AttacksAreNotAccused(t *testing.T) {
	for name, a := range attacks {
		accused, all := 0, 0
		for seed := range attackSeeds() {
			a.play(seed, 720, 0, 0, func(t, growth float64) {
				if t < max(120, a.first) {
					return
				}
				if all++; growth >= least {
					accused++
				}
			})
		}
		if share := float64(accused) / float64(all); share >= 0.03 {
			t.Errorf("%s: reported as growing %.1f %% of the time", name, 100*share)
		}
	}
}

func TestGrowth_LeaksUnderAttacksAreNamed(t *testing.T) {
	const rate, begins = 100 << 10, 130
	for name, a := range attacks {
		for seed := range attackSeeds() {
			after := math.Inf(1)
			a.play(seed, begins+250, begins, rate, func(t, growth float64) {
				if t > begins && growth >= least {
					after = min(after, t-begins)
				}
			})
			if a.named > 0 && after > a.named {
				t.Errorf("%s, seed %d: a leak of 100 KiB/s is named after %.0f s, not %.0f", name, seed, after, a.named)
			}
		}
	}
}

// Leaks of other forms than a line: what matters is that the floor rises.
func TestGrowth_LeaksOfAnyFormAreNamed(t *testing.T) {
	for name, x := range map[string]struct {
		leak  leak
		named float64
	}{
		"a KiB 20 times a second":   {steps(0.05, 1<<10), 40},
		"2 MiB every 15 s":          {steps(15, 2*mib), 90},
		"5 MiB every half minute":   {steps(30, 5*mib), 150},
		"10 MiB every minute":       {steps(60, 10*mib), 240},
		"faster and faster":         {func(t float64) float64 { return 1024 * t * t }, 60},
		"slower and slower":         {func(t float64) float64 { return mib * math.Sqrt(t) }, 60},
		"4 MiB are freed sometimes": {func(t float64) float64 { return 300<<10*t - math.Floor(t/20)*4*mib }, 90},
		"every other 20 s":          {pauses(20, 20, 200<<10), 90},
		"5 s of 30":                 {pauses(5, 25, 600<<10), 90},
		"2 MiB every 90 s":          {steps(90, 2*mib), 350},
		"2 KiB/s":                   {steady(2 << 10), 40},
	} {
		after := math.Inf(1)
		cell{"constant", 1, 60}.play(1, 500, 130, x.leak, func(t, growth float64) {
			if t > 130 && growth >= least {
				after = min(after, t-130)
			}
		})
		if after > x.named {
			t.Errorf("%s: named after %.0f s, not %.0f", name, after, x.named)
		}
	}
}

// What happened in the hour before a leak does not delay its name.
func TestGrowth_ALeakAfterAnHourIsNamedAsSoon(t *testing.T) {
	const begins = 3600
	after := math.Inf(1)
	cell{"sawtooth", 4, 30}.play(1, begins+60, begins, steady(100<<10), func(t, growth float64) {
		if growth >= least {
			after = min(after, t-begins)
		}
	})
	if after < 0 || after > 40 {
		t.Errorf("named after %.0f s", after)
	}
}

// A batch of 500 MiB for a minute hides a leak for as long as it lasts, and not for long after it has gone.
func TestGrowth_AHugeBatchDoesNotHideALeak(t *testing.T) {
	dark := 0
	cell{"sawtooth", 5, 30}.play(1, 600, 0, func(t float64) float64 {
		if t > 200 && t < 260 {
			return 500*mib + t*(100<<10)
		}
		return t * (100 << 10)
	}, func(t, growth float64) {
		if t > 60 && growth < least {
			dark++
		}
	})
	if dark > 120 {
		t.Errorf("not named for %d s", dark)
	}
}
