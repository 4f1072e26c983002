package main

import "math"

// mushroom is one from above: a lit dome with gills at its rim and spots.
func mushroom(k *dye, p, c vec, r float64, hue tone, pal *[5]tone, seed uint32) {
	if p.sub(c).length() > 1.4*r+16 {
		return
	}
	k.solid(p, c, r, hue.scale(0.22), hue.scale(0.62), seed)
	q := p.sub(c)
	d, lit := lump(p, c, r, seed)
	k.glow(hue, 0.16*clamp(0.3+lit)*falloff(-d-2, 3)*fill(d))
	about(7, r*0.7, seed+1, func(at vec, rnd float64, _ int) {
		s := q.sub(at).length() - r*(0.05+0.10*rnd)
		k.paint(pal[3].scale(0.5), 0.7*fill(s)*fill(d+1))
	})
}

func hood(k *dye, p vec, pal *[5]tone) {
	mushroom(k, p, vec{}, 34, pal[4].mix(pal[0], 0.4), pal, 601)
}

func caps(k *dye, p vec, pal *[5]tone) {
	about(8, 34, 611, func(at vec, rnd float64, i int) {
		hue := pal[3].mix(pal[0], 0.45)
		if i%3 == 0 {
			hue = pal[4].mix(pal[0], 0.4)
		}
		mushroom(k, p, at, 5+9*rnd, hue, pal, uint32(612+i))
	})
}

func roots(k *dye, p vec, pal *[5]tone) {
	q := p.add(vec{grain(p, 6, 621), grain(p, 6, 622)}.scale(6))
	tree := func(q vec) float64 {
		return min(twigs(q, vec{-52, -8}, 0.1, 28, 6, 3, 623), twigs(q, vec{-50, 8}, 0.5, 22, 4, 3, 624))
	}
	k.paint(tone{}, 0.5*falloff(tree(q.sub(vec{3, 4})), 5))
	d := tree(q)
	bark := pal[0].mix(pal[3], 0.14).mix(pal[1], 0.25)
	k.paint(bark.scale(0.7+0.5*grain(p, 18, 625)+0.5*clamp(-d/5)), fill(d))
}

func motes(k *dye, p vec, pal *[5]tone) {
	about(20, 50, 631, func(at vec, rnd float64, i int) {
		d := p.sub(at).length()
		hue := pal[2]
		if i%4 == 0 {
			hue = pal[4]
		}
		k.glow(hue, 0.18*halo(d, 4+11*rnd))
		k.glow(hue.mix(pal[3], 0.2), (0.18+0.3*rnd)*falloff(d-0.6-1.2*rnd*rnd, 1.4))
	})
}

func fern(k *dye, p vec, pal *[5]tone) {
	for i := range 5 {
		q := p.rotated(float64(i)*1.257 + 0.5*chance(i, 1, 641))
		q.y -= q.x * q.x / 190
		stalk := taper(q, vec{2, 0}, vec{52, 0}, 1.5, 0.6)
		long := 13 * step(0, 14, q.x) * step(56, 12, q.x)
		leaf := max(math.Abs(q.y)-long*(0.55+0.45*math.Cos(q.x*1.15-math.Abs(q.y)*0.5)), -q.x, q.x-54)
		k.paint(tone{}, 0.3*falloff(leaf-1, 4))
		k.paint(pal[1].mix(pal[2], 0.12+0.1*float64(i%2)).scale(0.55+0.006*q.x), fill(leaf))
		k.paint(pal[1].mix(pal[2], 0.4).scale(0.8), 0.8*fill(stalk))
	}
}

func puffball(k *dye, p vec, pal *[5]tone) {
	about(4, 26, 651, func(at vec, rnd float64, i int) {
		r := 10 + 8*rnd
		k.solid(p, at, r, pal[0].mix(pal[3], 0.10), pal[0].mix(pal[3], 0.42), uint32(652+i))
		k.paint(pal[0], 0.7*falloff(p.sub(at).length()-r*0.16, 2))
		k.glow(pal[2], 0.30*halo(p.sub(at).length(), r*0.5))
	})
}

func fairyRing(k *dye, p vec, pal *[5]tone) {
	k.paint(pal[0].scale(0.4), 0.35*falloff(p.length()-30, 8))
	for i := range 11 {
		at := polar(40+5*(chance(i, 1, 661)-0.5), float64(i)*0.571)
		mushroom(k, p, at, 4+3.5*chance(i, 2, 661), pal[3].mix(pal[2], 0.35).mix(pal[0], 0.35), pal, uint32(662+i))
	}
}

func litter(k *dye, p vec, pal *[5]tone) {
	about(22, 50, 671, func(at vec, rnd float64, i int) {
		q := p.sub(at).rotated(6.3 * rnd)
		d := math.Max(q.sub(vec{0, 5}).length(), q.add(vec{0, 5}).length()) - 8.5
		k.paint(tone{}, 0.3*falloff(d-1, 3))
		leaf := pal[0].mix(pal[1], 0.55).mix(pal[3], 0.12*chance(i, 3, 672))
		k.paint(leaf.scale(0.6+0.6*rnd), fill(d))
		k.paint(leaf.scale(1.6), 0.4*fill(math.Abs(q.y)-0.4)*fill(d+1))
	})
}

func tuft(k *dye, p vec, pal *[5]tone) {
	for i := range 26 {
		a := 6.283 * chance(i, 1, 681)
		q := p.sub(polar(14*chance(i, 2, 681), a*2)).rotated(a)
		q.y -= q.x * q.x / 120 * (chance(i, 3, 681) - 0.5) * 4
		d := taper(q, vec{0, 0}, vec{16 + 18*chance(i, 4, 681), 0}, 1.9, 0.4)
		k.paint(pal[0].mix(pal[1], 0.9).mix(pal[2], 0.22*chance(i, 5, 681)).scale(0.5+0.4*chance(i, 6, 681)), fill(d))
	}
}

func slime(k *dye, p vec, pal *[5]tone) {
	q := p.add(vec{grain(p, 5, 691), grain(p, 5, 692)}.scale(12))
	d, _ := lump(q, vec{}, 30, 693)
	_, lit := lump(q, vec{}, 34, 693)
	k.glow(pal[2], 0.10*halo(max(d, 0), 24))
	k.paint(pal[1].mix(pal[2], 0.06+0.12*clamp(-d/26)).scale(0.5), 0.85*fill(d))
	k.glow(pal[2], 0.28*falloff(math.Abs(d+2)-0.8, 2.4)*clamp(0.4+lit))
	about(6, 20, 694, func(at vec, rnd float64, _ int) {
		k.glow(pal[3], 0.35*falloff(math.Abs(q.sub(at).length()-2-3*rnd)-0.4, 1.2))
	})
}

func seeds(k *dye, p vec, pal *[5]tone) {
	about(5, 30, 701, func(at vec, rnd float64, i int) {
		r := 7 + 6*rnd
		k.solid(p, at, r, pal[0].mix(pal[1], 0.4), pal[1].mix(pal[2], 0.2), uint32(702+i))
		q := p.sub(at).rotated(rnd * 6)
		slit := max(q.sub(vec{0, r * 0.7}).length(), q.add(vec{0, r * 0.7}).length()) - r*0.92
		k.glow(pal[4], 0.8*fill(slit))
		k.glow(pal[4], 0.15*halo(p.sub(at).length(), r*1.9))
	})
}

// brackets grow on the groves' trunks.
func brackets(k *dye, p vec, pal *[5]tone) {
	about(7, 36, 711, func(at vec, rnd float64, i int) {
		r := 7 + 7*rnd
		hue := pal[3].mix(pal[4], 0.25*rnd).mix(pal[0], 0.35)
		k.solid(p, at, r, hue.scale(0.25), hue.scale(0.6), uint32(712+i))
		d, _ := lump(p, at, r*0.62, uint32(712+i))
		k.paint(hue.scale(0.35), 0.6*fill(outlined(d, 1.4)))
	})
}
