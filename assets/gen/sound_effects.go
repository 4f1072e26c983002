package main

import (
	"fmt"
	"math"

	"github.com/strata-go/strata/demo/sound/cue"
)

// effects lists the sounds of things that happen. Each is a function of nothing but its variant.
func effects() (list []tune) {
	put := func(k cue.Kind, loud, seconds float64, f func(t *track, v int)) {
		for v := range k.Variants() {
			list = append(list, tune{name: fmt.Sprintf("%s_%d", k, v), rate: effectRate, loud: loud, make: func() []float64 {
				const whole = 1024 // a length is a multiple of it
				t := newTrack(int(seconds*effectRate/whole+1)*whole, effectRate, false)
				f(t, v)
				return t.x
			}})
		}
	}
	put(cue.Shot, -15, 0.18, shotSound)
	put(cue.Hit, -15, 0.12, hitSound)
	put(cue.BurstSmall, -14, 0.42, func(t *track, v int) { burstSound(t, v, 0.4, 1) })
	put(cue.BurstLarge, -13, 1.25, func(t *track, v int) { burstSound(t, v+7, 1.2, 2.6) })
	put(cue.Dash, -15, 0.42, dashSound)
	put(cue.Pickup, -16, 0.36, func(t *track, _ int) { chime(t, 0.06, 0.3, 81, 88) })
	put(cue.Gift, -15, 1.4, func(t *track, _ int) { chime(t, 0.09, 1.0, 69, 73, 76, 81, 85) })
	put(cue.Hurt, -13, 0.7, hurtSound)
	put(cue.Seal, -13, 2.0, sealSound)
	put(cue.Roar, -13, 1.7, roarSound)
	put(cue.Spawn, -15, 0.6, spawnSound)
	put(cue.Portal, -15, 2.0, portalSound)
	put(cue.Move, -18, 0.06, func(t *track, _ int) { chime(t, 0.01, 0.05, 84) })
	put(cue.Select, -17, 0.22, func(t *track, _ int) { chime(t, 0.05, 0.16, 79, 86) })
	put(cue.Lightning, -14, 0.5, lightningSound)
	put(cue.Death, -13, 2.4, deathSound)
	put(cue.Low, -15, 0.62, lowSound)
	put(cue.Mend, -16, 0.8, mendSound)
	put(cue.Mine, -13, 0.8, mineSound)
	put(cue.Beam, -17, 0.6, beamSound)
	put(cue.Fire, -16, 0.45, fireSound)
	put(cue.Frost, -17, 0.5, frostSound)
	put(cue.Fall, -13, 2.8, fallSound)
	put(cue.Tell, -17, 0.55, tellSound)
	put(cue.Shield, -15, 0.45, shieldSound)
	put(cue.Splash, -18, 0.09, splashSound)
	put(cue.Collect, -18, 0.14, func(t *track, _ int) { chime(t, 0.02, 0.12, 93, 100) })
	return list
}

// A shot is a spark that jumps: a fast fall with a hard edge.
func shotSound(t *track, v int) {
	top := 1500 + 180*float64(v)
	n, hp := noise(uint64(11+v)), highpass(t.rate, 2500)
	t.add(0, 0.17, func(s float64) float64 {
		p := glide(s, top, 240, 0.035)
		tone := math.Tanh(2.2 * (sine(p) + 0.4*sine(2.01*p)))
		return 0.8*tone*fall(s, 0.15) + 0.5*hp(n())*fall(s, 0.03)
	})
}

// A hit is a tick on hot metal.
func hitSound(t *track, v int) {
	n, f := noise(uint64(21+v)), &filter{rate: t.rate}
	t.add(0, 0.11, func(s float64) float64 {
		_, band, _ := f.run(n(), 1900+500*float64(v), 2)
		return 1.2*band*fall(s, 0.05) + 0.5*bar(s, 820+130*float64(v), 0.09)
	})
}

// bar is a struck bar: its partials are those of a beam that is free at both ends.
func bar(s, f, seconds float64) float64 {
	return sine(f*s)*fall(s, seconds) + 0.6*sine(2.756*f*s)*fall(s, seconds*0.6) + 0.35*sine(5.404*f*s)*fall(s, seconds*0.35)
}

// A burst is a low drop under noise that closes; a large one is longer, lower and crackles.
func burstSound(t *track, v int, seconds, weight float64) {
	n, f := noise(uint64(31+v)), &filter{rate: t.rate}
	t.add(0, seconds, func(s float64) float64 {
		l, _, _ := f.run(n(), 300+5200/weight*fall(s, seconds*0.9), 0.8)
		drop := sine(glide(s, 260/math.Sqrt(weight), 42, 0.06*weight))
		return math.Tanh(1.6 * (1.1*l*fall(s, seconds) + 0.8*drop*fall(s, seconds*0.7)))
	})
	if weight > 2 {
		c := noise(uint64(91 + v))
		hp, crackle := lowpass(t.rate, 3800), 0.0
		t.add(int(0.08*t.rate), seconds-0.1, func(s float64) float64 {
			if r := c(); r > 0.997 {
				crackle = 1
			}
			crackle *= 0.985
			return 0.5 * hp(c()*crackle) * fall(s, seconds)
		})
	}
}

func dashSound(t *track, _ int) {
	n, f := noise(41), &filter{rate: t.rate}
	t.add(0, 0.42, func(s float64) float64 {
		_, band, _ := f.run(n(), 500+3200*math.Exp(-math.Pow((s-0.1)/0.09, 2)), 1.6)
		return band * swell(s, 0.42, 0.05, 0.3)
	})
}

// chime strikes keys one after the other.
func chime(t *track, apart, ring float64, keys ...float64) {
	for i, k := range keys {
		f := hz(k)
		t.add(int(float64(i)*apart*t.rate), ring, func(s float64) float64 {
			return (sine(f*s) + 0.35*sine(2*f*s)*fall(s, ring*0.5) + 0.2*sine(3.01*f*s)*fall(s, ring*0.3)) * fall(s, ring) * 0.5
		})
	}
}

func hurtSound(t *track, _ int) {
	n, f := noise(51), lowpass(t.rate, 1800)
	t.add(0, 0.68, func(s float64) float64 {
		p := glide(s, 420, 60, 0.12)
		return math.Tanh(2.5*(sine(p)+0.7*sine(1.07*p)))*fall(s, 0.6)*0.8 + 0.9*f(n())*fall(s, 0.25)
	})
}

// A seal cracks, and what it held rings.
func sealSound(t *track, _ int) {
	n, f := noise(61), highpass(t.rate, 900)
	for i, at := range []float64{0, 0.05, 0.085, 0.17} {
		t.add(int(at*t.rate), 0.09, func(s float64) float64 { return 0.8 * f(n()) * fall(s, 0.07) / (1 + 0.4*float64(i)) })
	}
	t.add(int(0.12*t.rate), 1.85, func(s float64) float64 {
		sum := 0.0
		for i, m := range []float64{0.5, 1, 1.19, 1.56, 2, 2.66, 3.76} {
			sum += sine(196*m*s) * fall(s, 1.9/(1+0.35*float64(i))) / (1 + 0.3*float64(i))
		}
		return 0.45 * sum
	})
	t.add(0, 0.6, func(s float64) float64 { return sine(glide(s, 150, 38, 0.08)) * fall(s, 0.55) })
}

// The warden roars: a low tone that trembles through a throat.
func roarSound(t *track, _ int) {
	n, a, b := noise(71), &filter{rate: t.rate}, &filter{rate: t.rate}
	t.add(0, 1.68, func(s float64) float64 {
		f := 62 + 26*swell(s, 1.6, 0.25, 1.2)
		growl := harmonics(s, f, 0.7, 2400)*0.5 + 0.5*n()
		growl *= 0.65 + 0.35*sine(27*s+0.8*sine(3.1*s))
		open := swell(s, 1.68, 0.2, 1.1)
		_, one, _ := a.run(growl, 240+420*open, 3)
		_, two, _ := b.run(growl, 900+700*open, 4)
		return math.Tanh(1.5*(one+0.5*two)) * swell(s, 1.68, 0.06, 0.7)
	})
}

func spawnSound(t *track, _ int) {
	n, f := noise(81), &filter{rate: t.rate}
	t.add(0, 0.6, func(s float64) float64 {
		u := s / 0.6
		_, band, _ := f.run(n(), 300+1900*u*u, 3)
		return (band + 0.5*sine(110*s+160*s*s)) * u * u * swell(s, 0.6, 0.01, 0.06)
	})
}

func portalSound(t *track, _ int) {
	for i, k := range []float64{57, 64, 69, 71, 76, 81} {
		f, at := hz(k), float64(i)*0.13
		t.add(int(at*t.rate), 1.95-at, func(s float64) float64 {
			return (sine(f*s+0.15*sine(5.5*s)) + 0.3*sine(2.005*f*s)) * swell(s, 1.95-at, 0.3, 1.1) * 0.3
		})
	}
	n, f := noise(101), &filter{rate: t.rate}
	t.add(0, 1.95, func(s float64) float64 {
		_, band, _ := f.run(n(), 800+2600*s/1.95, 4)
		return 0.3 * band * swell(s, 1.95, 0.9, 0.8)
	})
}

func lightningSound(t *track, _ int) {
	n, f := noise(111), &filter{rate: t.rate}
	gate := 0.0
	t.add(0, 0.48, func(s float64) float64 {
		if n() > 0.9965-0.004*fall(s, 0.3) {
			gate = 1
		}
		gate *= 0.9965
		_, band, high := f.run(n(), 2600, 1.2)
		return (band + 0.3*high) * (gate + 0.8*fall(s, 0.05)) * fall(s, 0.6)
	})
}
