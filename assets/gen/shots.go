package main

import "math"

// Bullets and pickups: things that must be told apart in a tenth of a second.

func bullet(p vec) ink {
	var k ink
	tail, along := segment(p, vec{-29, 0}, vec{20, 0})
	width := mix(2, 9.5, along)
	k.glow(0.9 * along * halo(tail, width))
	k.glow(along * falloff(tail-mix(0.3, 3, along), 3))
	k.glow(falloff(circle(p, vec{19, 0}, 4.6), 5))
	return k
}

func orb(p vec) ink {
	var k ink
	r := p.length()
	k.glow(0.35 * halo(math.Abs(r-13.4), 4.4))
	k.paint(0.02, 0.8*fill(r-15.2))
	k.paint(0.72, fill(outlined(r-12.6, 3)))
	k.glow(0.45 * halo(r-5, 6))
	k.paint(1, fill(r-6.4))
	return k
}

// badge is the common make of a pickup: dark outline, bright body with a brighter rim, faint light around it.
func badge(d float64) ink {
	var k ink
	k.glow(0.30 * halo(max(d, 0), 4.5))
	k.paint(0.03, 0.9*fill(d-2.4))
	k.paint(0.66, fill(d))
	k.paint(1, fill(outlined(d+1.6, 3.2)))
	return k
}

func pickupHull(p vec) ink {
	d := min(box(p, vec{}, vec{22, 8}, 2.5), box(p, vec{}, vec{8, 22}, 2.5))
	return badge(d)
}

var pickupChevron = from(11, 0).line(-6, 21).line(-16, 21).line(-1, 0).symmetric()

func pickupPower(p vec) ink {
	d := min(polygon(p.sub(vec{10, 0}), pickupChevron), polygon(p.sub(vec{-6.5, 0}), pickupChevron))
	return badge(d)
}

var pickupGem = path{{21, 0}, {0, 21}, {-21, 0}, {0, -21}}

func pickupScore(p vec) ink {
	d := polygon(p, pickupGem)
	k := badge(d)
	inner := polygon(p.scale(2.1), pickupGem) / 2.1
	k.paint(0.25, fill(outlined(inner, 2.4)))
	k.paint(1, fill(inner+2.4))
	return k
}
