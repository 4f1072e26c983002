package main

// The player is a forged dart: a bright hull with a white spine between two swept wings that burn away at the back.

var (
	playerHull = from(43, 0).curve(22, 3, 8, 8).curve(-6, 13, -18, 10).line(-28, 6).line(-22, 0).symmetric()
	playerWing = from(18, 4).curve(4, 30, -36, 41).curve(-16, 30, -18, 23).
			curve(-30, 26, -42, 21).curve(-26, 15, -22, 4)
	playerVein = from(8, 10).curve(-2, 24, -26, 34)
)

func player(p vec) ink {
	m := p.mirrored()
	hull, wing := polygon(p, playerHull), polygon(m, playerWing)
	body := min(hull, wing)

	var k ink
	k.paint(0.03, 0.9*fill(body-2.6))
	burn := step(-42, 14, p.x)
	k.paint(mix(0.34, 0.62, burn), fill(wing))
	k.light(0.45 * falloff(-wing, 5) * fill(wing) * burn)
	k.paint(0.05, fill(hull-2.2)*fill(wing))
	k.paint(mix(0.60, 0.86, step(-28, 30, p.x)), fill(hull))
	k.light(0.25 * falloff(-hull, 3) * fill(hull))

	spine := taper(p, vec{-10, 0}, vec{36, 0}, 3.6, 0.8)
	k.paint(1, fill(spine)*fill(hull))
	k.paint(0.08, fill(outlined(circle(p, vec{-12, 0}, 6), 2.2))*fill(hull))
	k.paint(1, fill(circle(p, vec{-12, 0}, 4.6)))
	return k
}

func playerCore(p vec) ink {
	m := p.mirrored()
	wing := polygon(m, playerWing)
	vein, along := playerVein.stroke(m)

	var k ink
	k.glow(0.55 * halo(taper(p, vec{-16, 0}, vec{34, 0}, 2, 0), 12))
	k.glow(0.95 * falloff(taper(p, vec{-10, 0}, vec{36, 0}, 1.6, 0), 3))
	k.glow(0.9 * halo(circle(p, vec{-12, 0}, 3.5), 24))
	k.glow(0.75 * halo(taper(p, vec{-24, 0}, vec{-36, 0}, 3, 0.5), 9))
	k.glow(0.7 * (1 - along) * falloff(vein-0.6, 4) * fill(wing))
	k.glow(0.25 * halo(vein, 12))
	return k
}
