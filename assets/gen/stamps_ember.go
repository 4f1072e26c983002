package main

import "math"

func iron(pal *[5]tone) (dark, light tone) {
	return tone{0.05, 0.042, 0.048}, tone{0.25, 0.20, 0.20}.mix(pal[1], 0.2)
}

func rubble(k *dye, p vec, pal *[5]tone) {
	dark, light := iron(pal)
	about(11, 38, 301, func(at vec, rnd float64, i int) {
		k.solid(p, at, 3+11*rnd*rnd+3*float64(11-i)/11, dark, light.scale(0.8+0.4*rnd), uint32(310+i))
	})
}

func hotCrack(k *dye, p vec, pal *[5]tone) {
	q := p.add(vec{grain(p, 9, 321), grain(p, 9, 322)}.scale(5))
	d := min(twigs(q, vec{-4, 0}, 0, 22, 2.6, 3, 331), twigs(q, vec{4, 0}, math.Pi, 22, 2.6, 3, 332))
	k.paint(pal[0].scale(0.5), 0.75*falloff(d-1.5, 3))
	heat := halo(p.length(), 66)
	k.glow(pal[2], 0.30*heat*halo(max(d, 0), 16))
	k.glow(pal[2], (0.2+0.55*heat)*falloff(d+1.2, 2))
	k.glow(pal[3], 0.55*heat*falloff(d+2.0, 1.5))
}

func slagPool(k *dye, p vec, pal *[5]tone) {
	q := p.add(vec{grain(p, 5, 341), grain(p, 5, 342)}.scale(9))
	d, _ := lump(q, vec{}, 36, 343)
	dark, light := iron(pal)
	_, lit := lump(q, vec{}, 46, 343)
	k.paint(dark.mix(light, clamp(0.3+0.5*lit)), 0.9*falloff(math.Abs(d-3)-3, 4))
	crust := voronoi(q.scale(1.0/stampSide).add(vec{0.5, 0.5}), 9, 344)
	hot := pal[1].mix(pal[2], clamp(0.62-1.5*crust.edge+0.4*grain(q, 6, 345)))
	k.paint(hot.scale(0.45), fill(d))
	k.glow(pal[2], 0.34*fill(d+1)*halo(crust.edge, 0.16))
	k.glow(pal[2], 0.20*halo(max(d, 0), 22))
}

func grate(k *dye, p vec, pal *[5]tone) {
	dark, light := iron(pal)
	d := box(p, vec{}, vec{44, 30}, 4)
	k.paint(tone{}, 0.45*falloff(box(p, vec{3, 4}, vec{44, 30}, 4)-1, 6))
	k.paint(dark.mix(light, 0.55), fill(d))
	slot := math.Inf(1)
	for i := range 7 {
		slot = min(slot, box(p, vec{float64(i-3) * 11.5, 0}, vec{3.4, 23}, 3))
	}
	k.paint(pal[0].scale(0.4), fill(slot))
	k.glow(pal[2], 0.28*fill(slot+0.5)*clamp(0.5+grain(p, 4, 351))*falloff(math.Abs(p.y)-8, 18))
	k.paint(light, 0.6*fill(outlined(d+1.2, 1.2))*step(0.2, -0.4, p.x/88+p.y/60))
}

func plate(k *dye, p vec, pal *[5]tone) {
	dark, light := iron(pal)
	d := max(box(p, vec{}, vec{46, 46}, 3), math.Abs(p.x)+math.Abs(p.y)-74)
	k.paint(tone{}, 0.4*falloff(d-1, 6))
	k.paint(dark.mix(light, 0.30+0.12*grain(p, 8, 361)), 0.92*fill(d))
	k.paint(light, 0.55*fill(outlined(d+1.5, 1.5))*step(0.3, -0.5, (p.x+p.y)/92))
	k.paint(dark.scale(0.5), 0.8*fill(outlined(d+8, 1.4)))
	q, _ := p.folded(8)
	k.solid(q, vec{39, 0}, 2.6, dark, light.scale(1.3), 362)
}

func ash(k *dye, p vec, _ *[5]tone) {
	d, _ := lump(p, vec{}, 30, 371)
	k.paint(tone{0.012, 0.01, 0.012}, 0.65*halo(max(d+10+14*grain(p, 5, 372), 0), 36))
}

func gear(k *dye, p vec, pal *[5]tone) {
	dark, light := iron(pal)
	shape := func(p vec) float64 {
		q, _ := p.folded(12)
		return max(min(p.length()-36, box(q, vec{38, 0}, vec{6, 4.6}, 1.5)), 15-p.length())
	}
	k.paint(tone{}, 0.5*falloff(shape(p.sub(vec{3, 4}))-1, 6))
	d := shape(p)
	k.paint(dark.mix(light, 0.4+0.15*grain(p, 9, 381)), fill(d))
	lit := p.scale(1 / (p.length() + 0.01)).dot(tileLight)
	if p.length() < 26 {
		lit = -lit
	}
	k.paint(light.scale(1.5), 0.8*clamp(lit)*fill(outlined(d+1.2, 1.6)))
	k.paint(dark.scale(0.6), 0.7*fill(outlined(p.length()-26, 2)))
}

func embers(k *dye, p vec, pal *[5]tone) {
	about(22, 50, 391, func(at vec, rnd float64, _ int) {
		d := p.sub(at).length()
		k.glow(pal[2], 0.16*halo(d, 4+12*rnd))
		k.glow(pal[2].mix(pal[3], 0.5*rnd), (0.2+0.3*rnd)*falloff(d-0.5-1.6*rnd*rnd, 1.4))
	})
}

func vent(k *dye, p vec, pal *[5]tone) {
	dark, light := iron(pal)
	r := p.length()
	k.paint(tone{}, 0.5*falloff(p.sub(vec{3, 4}).length()-33, 7))
	lit := p.scale(1 / (r + 0.01)).dot(tileLight)
	k.paint(dark.mix(light, clamp(0.4+0.45*lit)), fill(r-32))
	k.paint(dark.mix(light, clamp(0.35-0.45*lit)), fill(r-25))
	k.paint(pal[0], fill(r-21))
	k.glow(pal[2], 0.75*fill(r-21)*halo(r, 30))
	bars := math.Abs(math.Mod(p.x+64, 9) - 4.5)
	k.paint(dark, 0.95*fill(r-22)*fill(bars-1.6))
	k.glow(pal[2], 0.16*halo(r, 54))
}

func ingots(k *dye, p vec, pal *[5]tone) {
	dark, light := iron(pal)
	for i, b := range []vec{{-16, -12}, {14, -14}, {-4, 8}, {22, 14}} {
		q := p.sub(b).rotated(0.5*float64(i) - 0.6)
		k.paint(tone{}, 0.5*falloff(box(q, vec{3, 4}, vec{16, 7}, 2), 6))
		k.paint(dark.mix(light, 0.35+0.15*float64(i%2)), fill(box(q, vec{}, vec{16, 7}, 2)))
		k.paint(light.scale(1.25), fill(box(q, vec{-1, -1.5}, vec{12, 3.6}, 1)))
	}
}

// seam is a slit in a wall with fire behind it.
func seam(k *dye, p vec, pal *[5]tone) {
	q := vec{p.x, p.y + 5*grain(p, 5, 401)}
	d := taper(q, vec{-40, 0}, vec{40, 0}, 1.8, 1.2)
	k.glow(pal[1], 0.5*halo(max(d, 0), 20))
	k.glow(pal[2], 0.9*falloff(d, 2))
	k.glow(pal[3], 0.8*falloff(d+1.2, 1.2))
}

func rivets(k *dye, p vec, pal *[5]tone) {
	dark, light := iron(pal)
	k.paint(dark.mix(light, 0.25), 0.8*fill(box(p, vec{}, vec{50, 6}, 1)))
	k.paint(light, 0.5*fill(box(p, vec{0, -5.5}, vec{50, 0.7}, 0)))
	for i := range 6 {
		k.solid(p, vec{float64(i)*17 - 42.5, 0}, 2.8, dark, light.scale(1.4), 411)
	}
}
