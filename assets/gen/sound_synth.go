package main

import "math"

// A track is a piece of sound that is being made, in samples from about -1 to 1. Where it is a
// loop, what is put in beyond its end comes round to its beginning.
type track struct {
	x    []float64
	rate float64
	loop bool
}

func newTrack(frames int, rate float64, loop bool) *track {
	return &track{x: make([]float64, frames), rate: rate, loop: loop}
}

// add puts f, a function of the seconds since the beginning, in from frame at on.
func (t *track) add(at int, seconds float64, f func(s float64) float64) {
	for i := range int(seconds * t.rate) {
		k := at + i
		if k >= len(t.x) {
			if !t.loop {
				return
			}
			k %= len(t.x)
		}
		t.x[k] += f(float64(i) / t.rate)
	}
}

// through runs the track through a filter. A loop goes through until the filter has forgotten
// that there was a beginning.
func (t *track) through(f func(float64) float64) *track {
	if t.loop {
		for range 2 {
			for _, v := range t.x {
				f(v)
			}
		}
	}
	for i, v := range t.x {
		t.x[i] = f(v)
	}
	return t
}

// noise returns white noise from -1 to 1, the same for a seed each time.
func noise(seed uint64) func() float64 {
	s := seed*0x9e3779b97f4a7c15 + 0x632be59bd9b4e019
	return func() float64 {
		s ^= s << 13
		s ^= s >> 7
		s ^= s << 17
		return float64(int64(s)>>11) / (1 << 52)
	}
}

// A filter is a state-variable filter after Simper; its corner may move.
type filter struct{ rate, a, b float64 }

func (f *filter) run(x, hz, q float64) (low, band, high float64) {
	g := math.Tan(math.Pi * min(hz, 0.45*f.rate) / f.rate)
	k := 1 / q
	v3 := x - f.b
	v1 := (f.a + g*v3) / (1 + g*(g+k))
	v2 := f.b + g*v1
	f.a, f.b = 2*v1-f.a, 2*v2-f.b
	return v2, v1, x - k*v1 - v2
}

func lowpass(rate, hz float64) func(float64) float64 {
	f := &filter{rate: rate}
	return func(x float64) float64 { l, _, _ := f.run(x, hz, 0.707); return l }
}

func highpass(rate, hz float64) func(float64) float64 {
	f := &filter{rate: rate}
	return func(x float64) float64 { _, _, h := f.run(x, hz, 0.707); return h }
}

// echo is a delay that feeds itself, darker each time.
func echo(frames int, feedback, wet float64) func(float64) float64 {
	line, at, dark := make([]float64, frames), 0, 0.0
	return func(x float64) float64 {
		dark += 0.45 * (line[at] - dark)
		line[at] = x + dark*feedback
		at = (at + 1) % len(line)
		return x + dark*wet
	}
}

// room is a small dark hall: four delays of lengths without a common measure.
func room(rate, wet float64) func(float64) float64 {
	var lines [4][]float64
	var at [4]int
	var dark [4]float64
	for i, ms := range []float64{31.7, 37.1, 43.3, 51.1} {
		lines[i] = make([]float64, int(ms*rate/1000))
	}
	return func(x float64) float64 {
		sum := 0.0
		for i, l := range lines {
			dark[i] += 0.4 * (l[at[i]] - dark[i])
			l[at[i]] = x + dark[i]*0.78
			at[i] = (at[i] + 1) % len(l)
			sum += dark[i]
		}
		return x + sum*wet*0.4
	}
}

const tau = 2 * math.Pi

func sine(cycles float64) float64 { return math.Sin(tau * cycles) }

// fall is an exponential decay to a thousandth after the given time.
func fall(s, seconds float64) float64 { return math.Exp(-6.9 * s / seconds) }

// swell rises for a, holds, and falls for r before the end.
func swell(s, total, a, r float64) float64 {
	up := min(s/a, 1)
	down := max(0, min((total-s)/r, 1))
	return up * up * (3 - 2*up) * down * down * (3 - 2*down)
}

// glide is the phase, in cycles, of a tone that goes from one frequency to another with a time
// constant.
func glide(s, from, to, constant float64) float64 {
	return to*s + (from-to)*constant*(1-math.Exp(-s/constant))
}

// hz is the frequency of a key, 69 for the A of 440.
func hz(key float64) float64 { return 440 * math.Pow(2, (key-69)/12) }

// harmonics sums sines whose weights fall with a power, up to a limit in Hz.
func harmonics(s, f, power, limit float64) float64 {
	sum := 0.0
	for k := 1.0; k <= 24 && k*f < limit; k++ {
		sum += sine(k*f*s) / math.Pow(k, power)
	}
	return sum
}
