package main

import "math"

// Pictures that lie on the screen and not in the world.

func reticle(p vec) ink {
	r := p.length()
	q, _ := p.folded(4)
	gap, _ := p.rotated(math.Pi / 4).folded(4)
	arc := max(outlined(r-15, 2.6), math.Abs(gap.y)-7)
	tick := box(q, vec{15.8, 0}, vec{4, 1.4}, 1)
	d := min(arc, tick, r-2)
	var k ink
	k.paint(0.02, 0.7*fill(d-1.6))
	k.paint(1, fill(d))
	return k
}

// vignette is black that closes in from the edges. A trace of noise hides the steps between its few alphas.
func vignette(p vec) ink {
	x, y := p.x/160, p.y/90
	r := math.Sqrt((x*x + y*y) / 2)
	a := 0.78 * math.Pow(step(0.42, 1.08, r), 1.4)
	grain := chance(int(math.Floor(p.x)), int(math.Floor(p.y)), 51) - 0.5
	return ink{0, clamp(a + grain/255)}
}

func placeholder(p vec) ink {
	frame := box(p, vec{}, vec{29.5, 29.5}, 0)
	tone := 0.30
	if (int(math.Floor(p.x/10+100))+int(math.Floor(p.y/10+100)))%2 == 0 {
		tone = 0.52
	}
	cross := math.Abs(math.Abs(p.x)-math.Abs(p.y)) / math.Sqrt2
	var k ink
	k.paint(tone, fill(frame))
	k.paint(0.95, fill(cross-0.9)*fill(frame))
	k.paint(0.95, fill(outlined(frame+1, 2)))
	return k
}
