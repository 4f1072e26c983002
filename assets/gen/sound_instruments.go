package main

import "math"

// A score puts notes into a track by steps: sixteenths, of a whole number of samples each, so that
// bars and loops have no remainder.
type score struct {
	*track
	step, bar, bars int // samples in a step; steps in a bar; bars
}

func newScore(step, bar, bars int) *score {
	return &score{track: newTrack(step*bar*bars, musicRate, true), step: step, bar: bar, bars: bars}
}

// at is the sample of a step of a bar; swing, in samples, delays.
func (s *score) at(bar, step int) int { return (bar*s.bar + step) * s.step }

// seconds is how long so many steps last.
func (s *score) seconds(steps float64) float64 { return steps * float64(s.step) / s.rate }

// each calls f for each mark of a pattern, bar after bar: '.' is a rest, and '1' to '9' the strength.
func (s *score) each(pattern string, f func(bar, at int, strength float64)) {
	for b := range s.bars {
		for i := range s.bar {
			k := (b*s.bar + i) % len(pattern)
			if c := pattern[k]; c != '.' {
				f(b, s.at(b, i), float64(c-'0')/9)
			}
		}
	}
}

func (s *score) kick(at int, v, low float64) {
	s.add(at, 0.32, func(t float64) float64 {
		return v * sine(glide(t, low*3.4, low, 0.028)) * fall(t, 0.34) * min(1, t*1500)
	})
}

func (s *score) tom(at int, v, f float64) {
	s.add(at, 0.42, func(t float64) float64 {
		return v * (sine(glide(t, f*1.5, f, 0.05)) + 0.3*sine(glide(t, f*2.4, f*1.6, 0.04))*fall(t, 0.12)) * fall(t, 0.42) * min(1, t*900)
	})
}

// anvil is a struck bar with a bright knock.
func (s *score) anvil(at int, v, f, ring float64) {
	n, hp := noise(uint64(at)), &filter{rate: s.rate}
	s.add(at, ring, func(t float64) float64 {
		_, knock, _ := hp.run(n(), 3200, 1.5)
		return v * (0.7*bar(t, f, ring) + 0.5*knock*fall(t, 0.03))
	})
}

// brush is a short noise about a frequency.
func (s *score) brush(at int, v, f, q, seconds float64) {
	n, fl := noise(uint64(at)*7+3), &filter{rate: s.rate}
	s.add(at, seconds, func(t float64) float64 {
		_, band, _ := fl.run(n(), f, q)
		return v * band * fall(t, seconds) * min(1, t*800)
	})
}

// pad holds keys: two slightly different voices each, of few harmonics.
func (s *score) pad(at int, seconds, v, attack, release float64, keys ...float64) {
	for i, k := range keys {
		f := hz(k)
		s.add(at, seconds, func(t float64) float64 {
			e := swell(t, seconds, attack, release)
			slow := 1 + 0.15*sine(0.23*t+0.3*float64(i))
			tone := sine(f*0.9985*t) + sine(f*1.0017*t+0.3) + 0.42*slow*sine(2*f*t) + 0.16*slow*sine(3.002*f*t)
			return v * tone * e * 0.4
		})
	}
}

// glass holds the high partials of keys, which come and go like light on water: the air over a pad.
func (s *score) glass(at int, seconds, v, attack, release float64, keys ...float64) {
	for i, k := range keys {
		f := hz(k)
		s.add(at, seconds, func(t float64) float64 {
			sum := 0.0
			for j, partial := range [...]float64{8, 10, 12, 16, 20} {
				pulse := 0.5 + 0.5*sine(0.13*float64(j+2)*t+0.37*float64(i+2*j))
				sum += sine(partial*(1+0.0007*float64(j))*f*t) * pulse * pulse * 8 / partial
			}
			return v * 0.25 * sum * swell(t, seconds, attack, release)
		})
	}
}

// sparks are ticks of noise, high and hardly longer than a click.
func (s *score) sparks(pattern string, v, f float64) {
	s.each(pattern, func(_, at int, strength float64) { s.brush(at, v*strength, f, 2.5, 0.03) })
}

func (s *score) bell(at int, v, key, ring float64) {
	f := hz(key)
	s.add(at, ring, func(t float64) float64 {
		tone := sine(f*t)*fall(t, ring) + 0.4*sine(2.0*f*t)*fall(t, ring*0.6) + 0.28*sine(2.99*f*t)*fall(t, ring*0.35) + 0.14*sine(5.2*f*t)*fall(t, ring*0.15)
		return v * 0.6 * tone * min(1, t*700)
	})
}

// pluck is a string: the higher a harmonic, the sooner it is gone.
func (s *score) pluck(at int, v, key, ring float64) {
	f := hz(key)
	s.add(at, ring, func(t float64) float64 {
		sum := 0.0
		for k := 1.0; k <= 6 && k*f < 5000; k++ {
			sum += sine(k*f*t) * fall(t, ring/(1+0.8*(k-1))) / (k * (1 + 0.1*k))
		}
		return v * 0.8 * sum * min(1, t*1200)
	})
}

// bass is a saw through a filter that closes, driven a little.
func (s *score) bass(at int, seconds, v, key, open float64) {
	f, fl := hz(key), &filter{rate: s.rate}
	s.add(at, seconds, func(t float64) float64 {
		low, _, _ := fl.run(harmonics(t, f, 1, 2200), 140+open*fall(t, 0.28), 1.1)
		return v * math.Tanh(1.3*low) * swell(t, seconds, 0.006, 0.03)
	})
}

// lead is a pulse of two saws, thin and bright.
func (s *score) lead(at int, seconds, v, key, open float64) {
	f, fl := hz(key), &filter{rate: s.rate}
	s.add(at, seconds, func(t float64) float64 {
		low, _, _ := fl.run(0.6*(harmonics(t, f*0.997, 1, 3800)+harmonics(t, f*1.004, 1, 3800)), 500+open*fall(t, 0.3), 1.2)
		return v * low * swell(t, seconds, 0.008, 0.06)
	})
}
