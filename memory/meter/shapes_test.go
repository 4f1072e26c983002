package meter

import (
	"math"
	"math/rand/v2"
)

// A shape is a figure over time without net growth: bytes after so many seconds, called with rising times.
type shape func(t float64) float64

const mib = 1 << 20

// shapes are the figures of healthy programs, by their period in seconds. They rise by about 1 MiB a second.
var shapes = map[string]func(period float64, rng *rand.Rand) shape{
	"constant": func(float64, *rand.Rand) shape { return func(float64) float64 { return 0 } },
	"sawtooth": func(period float64, rng *rand.Rand) shape {
		phase := rng.Float64() * period
		return func(t float64) float64 { return math.Mod(t+phase, period) * mib }
	},
	"square": func(period float64, rng *rand.Rand) shape {
		phase := rng.Float64() * period
		return func(t float64) float64 {
			if math.Mod(t+phase, period) < period/2 {
				return 0
			}
			return period * mib
		}
	},
	"sine": func(period float64, rng *rand.Rand) shape {
		phase := rng.Float64()
		return func(t float64) float64 { return period * mib / 2 * (1 + math.Sin(2*math.Pi*(t/period+phase))) }
	},
	"stairs": func(period float64, rng *rand.Rand) shape {
		phase := rng.Float64() * period
		return func(t float64) float64 { return math.Floor(math.Mod(t+phase, period)/period*5) * period / 5 * mib }
	},
	// Batches of 16 KiB to 1 MiB live for up to a period; eight begin in one.
	"batches": func(period float64, rng *rand.Rand) shape {
		return batches(rng, func() (wait, life, size float64) {
			return rng.ExpFloat64() * period / 8, rng.Float64() * period, (16 + 1008*rng.Float64()) * 1024
		})
	},
	// A burst of 1 to 9 MiB lives for up to half a period.
	"bursts": func(period float64, rng *rand.Rand) shape {
		return batches(rng, func() (wait, life, size float64) {
			return period * (0.5 + rng.Float64()), rng.Float64() * period / 2, (1 + 8*rng.Float64()) * mib
		})
	},
	// A sawtooth each of whose teeth has another length and slope.
	"ragged": func(period float64, rng *rand.Rand) shape {
		begin, end, rate := 0.0, rng.Float64()*period, mib*1.0
		return func(t float64) float64 {
			for t >= end {
				begin, end, rate = end, end+period*(0.5+rng.Float64()), mib*(0.3+1.4*rng.Float64())
			}
			return (t - begin) * rate
		}
	},
}

// batches sums up what lives: next returns how long until the next batch, how long that lives, and its size.
func batches(rng *rand.Rand, next func() (wait, life, size float64)) shape {
	type batch struct{ end, size float64 }
	var live []batch
	at := 0.0
	return func(t float64) float64 {
		for at <= t {
			wait, life, size := next()
			live = append(live, batch{at + life, size})
			at += wait
		}
		sum, k := 0.0, 0
		for _, b := range live {
			if b.end > t {
				live[k] = b
				k++
				sum += b.size
			}
		}
		live = live[:k]
		return sum
	}
}

// A leak is what is never freed, after so many seconds of it.
type leak func(t float64) float64

func steady(rate float64) leak { return func(t float64) float64 { return rate * t } }

// pauses grows for so many seconds, and then not for others, in turns.
func pauses(on, off, rate float64) leak {
	return func(t float64) float64 { return rate * (math.Floor(t/(on+off))*on + min(math.Mod(t, on+off), on)) }
}

func steps(every, size float64) leak {
	return func(t float64) float64 { return math.Floor(t/every) * size }
}

// A simulation is a series that is fed as a meter feeds it.
type simulation struct {
	s      series
	points points
	second int64
	last   float64
}

// jittered returns the times of frames at hz, which differ by a tenth.
func jittered(hz float64, rng *rand.Rand) func(t float64) float64 {
	return func(float64) float64 { return (0.9 + 0.2*rng.Float64()) / hz }
}

// run feeds frames, of which took tells how long each takes, until so many seconds, and calls look once a second.
func (m *simulation) run(took func(t float64) float64, until float64, value func(t float64) float64, look func(t, growth float64)) {
	m.s = newSeries()
	for t := 0.0; t < until; t += took(t) {
		v := value(t)
		second := int64(t)
		if t-m.last > longSleep.Seconds() {
			m.s.floor.restart()
			m.second = second
		}
		for ; m.second < second; m.second++ {
			end := float64(m.second + 1)
			m.s.floor.cross(m.s.between(v, (end-m.last)/max(t-m.last, 1e-9)))
			if m.second+1 == second {
				m.s.floor.judge(second, &m.points)
				look(t, m.s.floor.growth())
			}
		}
		m.s.set(v, uint8(math.Mod(t, 1)*256))
		m.last = t
	}
}
