package main

import "math"

// The ship goes out: a shock, a tone that falls through three octaves, and the metal that is left ringing.
func deathSound(t *track, _ int) {
	n, f, hp := noise(121), &filter{rate: t.rate}, highpass(t.rate, 3000)
	t.add(0, 1.6, func(s float64) float64 {
		low, _, _ := f.run(n(), 200+5000*fall(s, 0.8), 0.7)
		return math.Tanh(2*(0.9*low*fall(s, 1.5)+sine(glide(s, 190, 30, 0.16))*fall(s, 1.4))) + 0.6*hp(n())*fall(s, 0.3)
	})
	t.add(int(0.05*t.rate), 1.5, func(s float64) float64 {
		p := glide(s, 880, 96, 0.45)
		return 0.35 * math.Tanh(1.6*(sine(p)+0.6*sine(1.505*p))) * swell(s, 1.5, 0.02, 0.6)
	})
	t.add(int(0.4*t.rate), 1.95, func(s float64) float64 {
		return 0.22 * (bar(s, 311, 1.9) + 0.7*bar(s, 233, 1.9))
	})
}

// Two beats of a heart, with a knock that small loudspeakers play.
func lowSound(t *track, _ int) {
	for i, at := range []float64{0, 0.21} {
		n, f := noise(uint64(131+i)), &filter{rate: t.rate}
		loud := 1 - 0.3*float64(i)
		t.add(int(at*t.rate), 0.38, func(s float64) float64 {
			_, knock, _ := f.run(n(), 1250, 1.5)
			return loud * (sine(glide(s, 150, 58, 0.03))*fall(s, 0.3)*min(1, s*600) + 0.6*sine(310*s)*fall(s, 0.14) + 1.6*knock*fall(s, 0.05))
		})
	}
}

// A hull that is mended: three keys that swell into one another.
func mendSound(t *track, _ int) {
	for i, k := range []float64{64, 71, 76} {
		f, at := hz(k), 0.08*float64(i)
		t.add(int(at*t.rate), 0.62, func(s float64) float64 {
			return 0.4 * (sine(f*s) + 0.4*sine(2*f*s) + 0.15*sine(4.01*f*s)*fall(s, 0.3)) * swell(s, 0.62, 0.05, 0.4)
		})
	}
}

// A mine goes off: a crack, a thump, and splinters.
func mineSound(t *track, _ int) {
	n, f, hp := noise(141), &filter{rate: t.rate}, highpass(t.rate, 2600)
	t.add(0, 0.75, func(s float64) float64 {
		low, _, _ := f.run(n(), 400+6500*fall(s, 0.22), 0.9)
		return math.Tanh(1.9*(low*fall(s, 0.5)+0.9*sine(glide(s, 210, 48, 0.05))*fall(s, 0.5))) + 0.5*hp(n())*fall(s, 0.02)
	})
	for i, k := range []float64{1710, 2290, 2960, 2040} {
		at := 0.06 + 0.075*float64(i)
		t.add(int(at*t.rate), 0.2, func(s float64) float64 { return 0.16 * bar(s, k, 0.12) })
	}
}

// A beam hums while it is on. It is begun again every quarter of a second, so it swells and fades.
func beamSound(t *track, _ int) {
	n, f := noise(151), &filter{rate: t.rate}
	t.add(0, 0.58, func(s float64) float64 {
		_, hiss, _ := f.run(n(), 4200, 1.4)
		tone := math.Tanh(1.8 * (harmonics(s, 147, 0.8, 5000) + 0.6*sine(441*s+0.6*sine(23*s))))
		return (0.5*tone + 0.3*hiss) * swell(s, 0.58, 0.22, 0.3)
	})
}

// What catches fire puffs, and crackles.
func fireSound(t *track, v int) {
	n, f, hp := noise(uint64(161+v)), &filter{rate: t.rate}, highpass(t.rate, 1800)
	crackle := 0.0
	t.add(0, 0.43, func(s float64) float64 {
		low, band, _ := f.run(n(), 500+1500*math.Exp(-math.Pow((s-0.06)/0.07, 2)), 0.9)
		if r := n(); r > 0.994 {
			crackle = r
		}
		crackle *= 0.97
		return (0.7*low+0.6*band)*swell(s, 0.43, 0.03, 0.33) + 0.9*hp(n()*crackle)*fall(s, 0.5)
	})
}

// Frost is ice that cracks in a glass.
func frostSound(t *track, v int) {
	hp := highpass(t.rate, 3500)
	n := noise(uint64(171 + v))
	t.add(0, 0.08, func(s float64) float64 { return 0.7 * hp(n()) * fall(s, 0.05) })
	for i, k := range []float64{2637, 3136, 3951, 4699} {
		f := k * (1 + 0.03*float64(v))
		at := 0.02 + 0.045*float64((i*3+v)%4)
		t.add(int(at*t.rate), 0.32, func(s float64) float64 {
			return 0.3 * (sine(f*s) + 0.4*sine(1.48*f*s)) * fall(s, 0.28) * min(1, s*900)
		})
	}
}

// A warden falls: its roar sinks, then all of it comes down, and a bell tells it.
func fallSound(t *track, _ int) {
	n, a, b := noise(181), &filter{rate: t.rate}, &filter{rate: t.rate}
	t.add(0, 1.3, func(s float64) float64 {
		p := glide(s, 96, 38, 0.5)
		growl := 0.5*(sine(p)+0.7*sine(2*p)+0.5*sine(3*p)+0.4*sine(5*p)) + 0.5*n()*(0.6+0.4*sine(24*s))
		_, throat, _ := a.run(growl, 300+700*fall(s, 1.2), 2.5)
		return math.Tanh(1.6*throat) * swell(s, 1.3, 0.03, 0.6)
	})
	rubble, gate := noise(191), 0.0
	t.add(int(0.5*t.rate), 2.2, func(s float64) float64 {
		if rubble() > 0.9975-0.006*fall(s, 1.2) {
			gate = 1
		}
		gate *= 0.997
		low, band, _ := b.run(rubble(), 260+2600*fall(s, 1.4), 0.9)
		boom := sine(glide(s, 120, 31, 0.14)) * fall(s, 1.8)
		return math.Tanh(1.7*(0.9*boom+0.8*low*fall(s, 1.6))) + 0.7*band*gate*fall(s, 2)
	})
	t.add(int(0.62*t.rate), 2.15, func(s float64) float64 {
		return 0.16 * (bar(s, 147, 2.1) + 0.8*bar(s, 220, 2.0) + 0.4*bar(s, 587, 1.2))
	})
}

// A lancer takes aim: a tone that rises as long as it aims.
func tellSound(t *track, _ int) {
	t.add(0, 0.54, func(s float64) float64 {
		u := s / 0.54
		p := 420*s + 520*s*s
		return (sine(p) + 0.5*sine(2*p) + 0.3*sine(3.01*p)) * (0.55 + 0.45*sine(14*s+12*s*s)) * u * swell(s, 0.54, 0.02, 0.03) * 0.5
	})
}

// A shield breaks like a pane.
func shieldSound(t *track, _ int) {
	n, hp := noise(201), highpass(t.rate, 2400)
	t.add(0, 0.2, func(s float64) float64 { return hp(n()) * fall(s, 0.14) })
	for i, k := range []float64{1480, 2217, 2794, 3520, 1864} {
		t.add(int((0.01+0.028*float64(i))*t.rate), 0.3, func(s float64) float64 { return 0.22 * bar(s, k, 0.2) })
	}
}

// A shot ends at a wall: a tick on stone.
func splashSound(t *track, _ int) {
	n, f := noise(211), &filter{rate: t.rate}
	t.add(0, 0.085, func(s float64) float64 {
		_, band, _ := f.run(n(), 1300, 1.3)
		return band * fall(s, 0.045)
	})
}
