package main

import "math"

// tideWater is light on the floor of dark water: two nets of caustics over slow depths.
func tideWater(p vec) ink {
	u := tilePoint(p)
	w := warped(warped(u, 3, 0.06, 81), 9, 0.022, 88)
	large, small := voronoi(w, 6, 82), voronoi(warped(w, 8, 0.03, 83), 11, 84)
	depth := cloud(u, 3, 3, 85)
	shine := 0.5 + 0.5*gradient(u, 3, 86)

	tone := 0.23 + 0.07*depth + 0.02*cloud(u, 24, 3, 87)
	tone += (0.06 + 0.30*shine) * math.Pow(1-clamp(large.edge/0.42), 6)
	tone += (0.05 + 0.10*shine) * math.Pow(1-clamp(small.edge/0.40), 4)
	return ink{tone, 1}
}

// tideDrift is a few strands of kelp with bubbles between them.
func tideDrift(p vec) ink {
	u := tilePoint(p)
	var k ink
	for i := range 3 {
		kelp(&k, u, i)
	}
	scatter(u, 6, 92, func(at vec, rnd func(uint32) float64) {
		if rnd(0) > 0.5 {
			return
		}
		bubble(&k, at, 3+11*rnd(1)*rnd(1))
	})
	return k
}

// bubble is a thin rim, brighter towards the light, with one highlight.
func bubble(k *ink, at vec, r float64) {
	d := at.length() - r
	lit := 0.5 + 0.5*at.scale(1/(at.length()+0.1)).dot(tileLight)
	k.glow((0.18 + 0.40*lit) * falloff(math.Abs(d)-0.5, 1.8))
	k.glow(0.07 * fill(d))
	k.glow(0.55 * falloff(at.sub(tileLight.scale(0.55*r)).length()-0.09*r, 2))
}

// kelp is one strand that runs the height of the tile, with leaves on alternating sides.
func kelp(k *ink, u vec, i int) {
	const leaves = 22
	base := (float64(i) + 0.2 + 0.6*chance(i, 0, 93)) / 3
	phase := 2 * math.Pi * chance(i, 1, 93)
	sway := func(y float64) float64 {
		return 0.030*math.Sin(2*math.Pi*y+phase) + 0.012*math.Sin(4*math.Pi*y+2*phase)
	}
	offset := u.x - base - sway(u.y)
	offset = (offset - math.Round(offset)) * tilePixels
	d := math.Abs(offset) - 2
	row := math.Floor(u.y * leaves)
	for j := row - 2; j <= row+2; j++ {
		n := wrap(int(j), leaves)
		side := float64(1 - 2*(n%2))
		y := (j + 0.5) / leaves
		rootX := offset + (sway(u.y)-sway(y))*tilePixels
		at := vec{rootX * side, (u.y - y) * tilePixels}
		d = min(d, kelpLeaf(at, 26+22*chance(n, i, 94)))
	}
	k.paint(0.34+0.22*falloff(-d, 2.5), 0.42*fill(d))
}

// kelpLeaf grows from the origin to the right and curls up.
func kelpLeaf(at vec, reach float64) float64 {
	t := clamp(at.x / reach)
	middle := -0.55*reach*t*t - 5*t
	return math.Hypot(at.x-t*reach, at.y-middle) - 4.6*math.Sin(math.Pi*math.Sqrt(t)) - 0.3
}
