package main

import "math"

// sporeVeins is a mat of mycelium: a few thick threads that swell and thin out over many fine ones.
func sporeVeins(p vec) ink {
	u := tilePoint(p)
	w := warped(u, 7, 0.012, 101)
	fuzz := cloud(u, 8, 5, 107)

	tone := 0.15 + 0.05*cloud(u, 3, 3, 108) + 0.03*fuzz
	for i := range uint32(3) {
		fade := step(-0.25, 0.35, gradient(u, 4, 120+i))
		tone += 0.10 * fade * halo(contour(w, 6, 130+i)*tilePixels, 5)
	}
	for i := range uint32(2) {
		swell := 0.5 + 0.5*gradient(u, 4, 140+i)
		d := contour(w, 3, 150+i)*tilePixels - 4.5*swell*swell
		tone -= 0.04 * falloff(d, 22)
		tone += 0.34 * swell * falloff(d, 5)
		tone += 0.06 * fuzz * falloff(d, 3)
	}
	return ink{tone, 1}
}

// sporeDrift is spores: a shell, a heart and a crown of hairs; and dust.
func sporeDrift(p vec) ink {
	u := tilePoint(p)
	var k ink
	scatter(u, 4, 113, func(at vec, rnd func(uint32) float64) {
		if rnd(0) > 0.4 {
			return
		}
		spore(&k, at.rotated(6*rnd(1)), 5+15*rnd(2)*rnd(2))
	})
	scatter(u, 9, 112, func(at vec, rnd func(uint32) float64) {
		if rnd(0) > 0.55 {
			return
		}
		size := 0.8 + 1.8*rnd(1)
		k.glow((0.15 + 0.3*rnd(2)) * falloff(at.length()-size, 2))
		k.glow(0.08 * halo(at.length(), size*7))
	})
	return k
}

func spore(k *ink, at vec, r float64) {
	d := at.length() - r
	q, _ := at.folded(14)
	hair := taper(q, vec{r, 0}, vec{r * 1.55, 0}, 0.9, 0.4)
	k.glow(0.12 * halo(max(d, 0), r*1.6))
	k.paint(0.16, 0.45*fill(d))
	k.glow(0.28 * fill(hair))
	k.glow(0.24 * falloff(math.Abs(d+1)-0.6, 2.2))
	k.glow(0.26 * halo(at.length(), r*0.75))
}
