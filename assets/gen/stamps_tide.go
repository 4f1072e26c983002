package main

import "math"

func stone(pal *[5]tone) (dark, light tone) {
	return pal[0].mix(pal[1], 0.35), pal[1].mix(pal[2], 0.18)
}

func fan(k *dye, p vec, pal *[5]tone) {
	d := math.Inf(1)
	for i := range 3 {
		d = min(d, twigs(p, vec{-40, 0}, 0.5*float64(i-1), 24, 4, 4, uint32(501+i)))
	}
	s := math.Inf(1)
	for i := range 3 {
		s = min(s, twigs(p.sub(vec{4, 5}), vec{-40, 0}, 0.5*float64(i-1), 24, 4, 4, uint32(501+i)))
	}
	k.paint(tone{}, 0.45*falloff(s, 5))
	tip := clamp((p.x + 40) / 90)
	k.paint(pal[4].mix(pal[0], 0.70-0.30*tip), fill(d))
	k.glow(pal[4], 0.22*tip*falloff(d+1.2, 1.5))
}

func weed(k *dye, p vec, pal *[5]tone) {
	for i := range 7 {
		root := polar(9*chance(i, 1, 511), 6.3*chance(i, 2, 511))
		q := p.sub(root).rotated(0.55*float64(i-3) + 0.3*chance(i, 3, 511))
		long := 34 + 18*chance(i, 4, 511)
		bend := (7*math.Sin(q.x/11+float64(i)*2) + q.x*q.x/180*float64(i%3-1)) * step(0, 20, q.x)
		w := (3 + 1.6*math.Sin(q.x/3.1+float64(i))*step(4, 16, q.x)) * step(long+4, long-14, q.x)
		blade := func(y float64) float64 { return max(math.Abs(y-bend)-w, -q.x, q.x-long) }
		k.paint(tone{}, 0.4*falloff(blade(q.y-4), 4))
		leaf := pal[0].mix(pal[1], 0.65+0.05*float64(i)).mix(pal[2], 0.16*chance(i, 5, 511))
		k.paint(leaf.scale(0.75), fill(blade(q.y)))
		k.paint(leaf.mix(pal[2], 0.3), 0.6*fill(math.Abs(q.y-bend)-0.6)*fill(max(-q.x, q.x-long+6)))
	}
}

func shell(k *dye, p vec, pal *[5]tone) {
	dark, light := stone(pal)
	q := p.add(vec{12, 0})
	r, a := q.length(), q.angle()
	d := max(r-34*(1-0.10*math.Cos(a*13)*step(10, 34, r)), math.Abs(a)*18-22)
	k.paint(tone{}, 0.5*falloff(d-3, 6))
	rib := 0.5 + 0.5*math.Cos(a*26)
	k.paint(dark.mix(light.mix(pal[3], 0.35), 0.25+0.4*rib+0.2*math.Sin(r/3)), fill(d))
	k.paint(pal[3].scale(0.5), 0.5*rib*fill(outlined(d+1, 1.6)))
}

func starfish(k *dye, p vec, pal *[5]tone) {
	shape := func(p vec) float64 {
		q, _ := p.folded(5)
		return taper(q, vec{4, 0}, vec{36, 0}, 11, 3)
	}
	k.paint(tone{}, 0.5*falloff(shape(p.sub(vec{3, 4})), 5))
	d := shape(p)
	q, _ := p.folded(5)
	body := pal[4].mix(pal[0], 0.55)
	k.paint(body.scale(0.7+0.5*clamp(-d/9)), fill(d))
	bead := math.Hypot(math.Mod(q.x, 7)-3.5, q.y) - 1.5
	k.paint(pal[4].mix(pal[3], 0.3).scale(0.7), 0.8*fill(bead)*fill(d+2))
}

func anemone(k *dye, p vec, pal *[5]tone) {
	k.paint(tone{}, 0.4*falloff(p.sub(vec{4, 5}).length()-34, 12))
	for ring := range 3 {
		n := 15 - 3*ring
		q, i := p.rotated(0.3*float64(ring) + 0.12*math.Sin(p.length()/5)).folded(n)
		long := 46 - 11*float64(ring) - 7*chance(i, ring, 521)
		d := taper(q, vec{8, 0}, vec{long, 0}, 3.6, 2.3)
		tip := clamp((q.x - 8) / (long - 8))
		k.paint(pal[1].scale(0.30+0.15*float64(ring)).mix(pal[2], 0.06+0.22*tip), fill(d))
		k.glow(pal[2], 0.30*falloff(q.sub(vec{long, 0}).length()-1.3, 1.8))
	}
	k.paint(pal[0].mix(pal[4], 0.25), fill(p.length()-8))
}

func bubbles(k *dye, p vec, pal *[5]tone) {
	about(12, 48, 531, func(at vec, rnd float64, _ int) {
		r := 1.5 + 7*rnd*rnd
		d := p.sub(at).length() - r
		k.glow(pal[2], 0.30*falloff(math.Abs(d)-0.4, 1.4))
		k.glow(pal[2], 0.06*fill(d))
		k.glow(pal[3], 0.55*falloff(p.sub(at).add(vec{r * 0.4, r * 0.45}).length()-0.3, 1.6))
	})
}

func pebbles(k *dye, p vec, pal *[5]tone) {
	dark, light := stone(pal)
	about(16, 46, 541, func(at vec, rnd float64, i int) {
		k.solid(p, at, 2.5+8*rnd*rnd, dark, light.scale(0.7+0.4*rnd), uint32(542+i))
	})
}

func brain(k *dye, p vec, pal *[5]tone) {
	k.solid(p, vec{}, 38, pal[0].mix(pal[1], 0.5), pal[4].mix(pal[0], 0.62), 551)
	d, lit := lump(p, vec{}, 38, 551)
	u := p.scale(1.0 / stampSide).add(vec{0.5, 0.5})
	groove := falloff(contour(warped(u, 5, 0.03, 552), 9, 553)*stampSide-0.8, 1.8)
	k.paint(pal[0].scale(0.7), 0.75*groove*fill(d+2))
	k.glow(pal[4], 0.12*clamp(lit+0.3)*(1-groove)*fill(d+3))
}

// swirl is where the water has drawn rings in the sand.
func swirl(k *dye, p vec, pal *[5]tone) {
	r := p.length() + 5*grain(p, 4, 561)
	ring := math.Sin(r / 2.6)
	k.paint(pal[0], 0.35*halo(r, 54)*clamp(-ring))
	k.glow(pal[2], 0.10*halo(r, 54)*clamp(ring))
}

func sponges(k *dye, p vec, pal *[5]tone) {
	about(6, 30, 571, func(at vec, rnd float64, i int) {
		r := 8 + 7*rnd
		k.solid(p, at, r, pal[0].mix(pal[1], 0.6), pal[1].mix(pal[2], 0.18), uint32(572+i))
		d := p.sub(at).length() - r*0.48
		k.paint(pal[0].scale(0.5), fill(d))
		k.glow(pal[2], 0.28*falloff(math.Abs(d)-0.4, 1.4))
	})
}

func plankton(k *dye, p vec, pal *[5]tone) {
	about(26, 52, 581, func(at vec, rnd float64, _ int) {
		d := p.sub(at).length()
		k.glow(pal[2], 0.16*halo(d, 3+10*rnd))
		k.glow(pal[2], (0.2+0.4*rnd*rnd)*falloff(d-0.5-0.8*rnd, 1.4))
	})
}

// polyps sit on the reefs.
func polyps(k *dye, p vec, pal *[5]tone) {
	about(14, 44, 591, func(at vec, rnd float64, i int) {
		r := 3 + 5*rnd
		k.solid(p, at, r, pal[4].mix(pal[0], 0.85), pal[4].mix(pal[0], 0.45), uint32(592+i))
		k.paint(pal[0], 0.85*fill(p.sub(at).length()-r*0.35))
	})
}
