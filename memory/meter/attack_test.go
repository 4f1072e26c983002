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
	named float64 // seconds after which a leak of 100 KiB/s is named under it; 0 if its cycle is too long for that
}

func twoSawtooths(a, b float64) func(rng *rand.Rand) shape {
	return func(rng *rand.Rand) shape {
		x, y := rng.Float64()*a, rng.Float64()*b
		return func(t float64) float64 { return math.Mod(t+x, a)*mib + math.Mod(t+y, b)*mib }
	}
}

func sawtooth(period float64) func(rng *rand.Rand) shape {
	return func(rng *rand.Rand) shape { return shapes["sawtooth"](period, rng) }
}

var attacks = map[string]attack{
	"two cycles of 7 and 30 s": {twoSawtooths(7, 30), 180},
	"a beat of 4 and 4.1 s":    {twoSawtooths(4, 4.1), 120},
	"a sawtooth of a minute":   {sawtooth(60), 0},
	"a sawtooth of 100 s":      {sawtooth(100), 0},
	"a sine of 90 s":           {func(rng *rand.Rand) shape { return shapes["sine"](90, rng) }, 0},
	"teeth that grow and shrink": {func(*rand.Rand) shape {
		return func(t float64) float64 { return math.Mod(t, 5) * mib * (1.2 + math.Sin(t/40)) }
	}, 60},
	"every other frame 4 MiB": {func(*rand.Rand) shape {
		n := 0
		return func(float64) float64 { n++; return float64(n%2) * 4 * mib }
	}, 80},
	"frames of 0 to 4 MiB": {func(rng *rand.Rand) shape { return func(float64) float64 { return rng.Float64() * 4 * mib } }, 60},
	"batches that live long": {func(rng *rand.Rand) shape {
		return batches(rng, func() (wait, life, size float64) {
			return 3 * rng.ExpFloat64(), 20 * rng.ExpFloat64(), (16 + 1008*rng.Float64()) * 1024
		})
	}, 200},
	"levels loaded every 40 s, freed every 160": {func(rng *rand.Rand) shape {
		phase := rng.Float64() * 160
		return func(t float64) float64 { return math.Floor(math.Mod(t+phase, 160)/40) * 10 * mib }
	}, 200},
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
			rng := rand.New(rand.NewPCG(uint64(seed), 5))
			of := a.of(rng)
			var m simulation
			m.run(30, 720, rng, func(t float64) float64 { return 50*mib + of(t) }, func(t, growth float64) {
				if t < 120 {
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
			rng := rand.New(rand.NewPCG(uint64(seed), 5))
			of, after := a.of(rng), math.Inf(1)
			var m simulation
			m.run(30, begins+250, rng, func(t float64) float64 { return 50*mib + of(t) + max(t-begins, 0)*rate }, func(t, growth float64) {
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
	} {
		after := math.Inf(1)
		cell{"constant", 1, 60}.play(1, 400, 130, x.leak, func(t, growth float64) {
			if t > 130 && growth >= least {
				after = min(after, t-130)
			}
		})
		if after > x.named {
			t.Errorf("%s: named after %.0f s, not %.0f", name, after, x.named)
		}
	}
}
