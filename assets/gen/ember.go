package main

import "math"

// tilePixels is the side of a background tile.
const tilePixels = 512

// tileLight is where the light of the backgrounds comes from.
var tileLight = vec{-0.6, -0.8}

// tilePoint turns pixels from the centre into tile units.
func tilePoint(p vec) vec { return p.scale(1.0 / tilePixels).add(vec{0.5, 0.5}) }

// emberFloor is basalt plates, bevelled and hammered; a few of the cracks between them are still hot.
func emberFloor(p vec) ink {
	u := tilePoint(p)
	c := voronoi(warped(u, 5, 0.016, 61), 5, 62)
	heat := step(-0.05, 0.35, gradient(u, 4, 63)) * (0.75 + 0.35*gradient(u, 11, 64))
	dent := voronoi(warped(u, 9, 0.02, 65), 22, 66)

	tone := 0.21 + 0.08*(c.tone-0.5)
	tone += 0.045 * cloud(u, 12, 5, 67)
	tone += 0.03 * (0.45 - dent.centre)
	tone += 0.10 * falloff(c.edge-0.03, 0.06) * c.out.dot(tileLight)
	tone -= 0.05 * falloff(c.edge-0.02, 0.25)
	tone = mix(tone, 0.05, falloff(c.edge-0.014, 0.022))
	tone += 0.26 * heat * halo(c.edge, 0.30)
	tone += 0.80 * heat * falloff(c.edge-0.004, 0.020)
	return ink{tone, 1}
}

// emberDrift is slag, lit from one side, and embers.
func emberDrift(p vec) ink {
	u := tilePoint(p)
	var k ink
	scatter(u, 4, 71, func(at vec, rnd func(uint32) float64) {
		if rnd(0) > 0.55 {
			return
		}
		d := slag(at, rnd)
		lit := 0.5 + 0.5*at.scale(1/(1-d+at.length())).dot(tileLight)
		k.paint(0.10+0.5*lit*lit*falloff(-d, 14), 0.6*falloff(d+2, 3))
	})
	scatter(u, 9, 72, func(at vec, rnd func(uint32) float64) {
		if rnd(0) > 0.5 {
			return
		}
		size := 1 + 2.2*rnd(1)*rnd(1)
		k.glow((0.25 + 0.45*rnd(2)) * falloff(at.length()-size, 2))
		k.glow(0.16 * halo(at.length(), size*7))
	})
	return k
}

// slag is a lump with an uneven outline.
func slag(at vec, rnd func(uint32) float64) float64 {
	a, size := at.angle(), 6+22*rnd(2)*rnd(2)
	uneven := 0.15*math.Sin(2*a+6*rnd(3)) + 0.07*math.Sin(5*a+6*rnd(4)) + 0.02*math.Sin(11*a+6*rnd(5))
	return at.length() - size*(1+uneven)
}
