package main

import "math"

// The three small enemies. Each has one idea for its outline: the drifter a disc with threads, the lancer a
// needle, the swarm a moth of four blades.

var enemyPictures = []picture{
	{"drifter", 80, 80, sprite, soon, drifter},
	{"drifter_core", 80, 80, sprite, soon, drifterCore},
	{"lancer", 96, 96, sprite, soon, lancer},
	{"lancer_core", 96, 96, sprite, soon, lancerCore},
	{"swarm", 40, 40, sprite, soon, swarm},
	{"swarm_core", 40, 40, sprite, soon, swarmCore},
	{"warden", 256, 256, sprite, atLast, warden},
	{"warden_core", 256, 256, sprite, atLast, wardenCore},
}

const (
	drifterRadius = 24.5
	drifterLobes  = 7
)

// drifterMiddle is ahead of the middle of the picture, which leaves space for the threads.
var drifterMiddle = vec{8, 0}

// drifterThreads trail behind the bell, the middle one longest.
var drifterThreads = []path{
	drifterThread(-2), drifterThread(-1), drifterThread(0), drifterThread(1), drifterThread(2),
}

func drifterThread(i float64) path {
	root := drifterMiddle.add(polar(drifterRadius-2, math.Pi-0.44*i))
	end := vec{-34.6 + 2.6*i*i, 1.25 * root.y}
	middle := root.add(end).scale(0.5)
	bend := 5.5 - 11*math.Abs(math.Mod(i, 2))
	return from(root.x, root.y).curve(mix(root.x, middle.x, 0.5), root.y+bend, middle.x, middle.y).
		curve(mix(middle.x, end.x, 0.5), end.y-bend, end.x, end.y)
}

func drifterTail(p vec) float64 {
	best := math.Inf(1)
	for _, thread := range drifterThreads {
		d, along := thread.stroke(p)
		best = min(best, d-mix(2.4, 0.7, along))
	}
	return best
}

// drifterRim is the bright edge of the bell, scalloped on its inner side.
func drifterRim(q vec) float64 {
	return drifterRadius - 4.4 + 1.9*math.Cos(drifterLobes*q.angle()) - q.length()
}

func drifter(p vec) ink {
	q := p.sub(drifterMiddle)
	bell, tail := q.length()-drifterRadius, drifterTail(p)
	on := fill(bell)

	var k ink
	k.paint(0.02, 0.85*fill(min(bell, tail)-2.2))
	k.paint(mix(0.45, 0.85, step(-36, -10, p.x)), fill(tail))
	k.paint(0.03, 0.8*fill(bell-1.6))
	k.paint(0.20, on)
	k.light(0.22 * falloff(q.sub(vec{4, 0}).length()-6, 18) * on)
	canal, _ := q.folded(drifterLobes)
	k.light(0.22 * fill(math.Abs(canal.y)-1.1) * on)
	k.light(0.34 * fill(drifterRim(q)) * on)
	k.light(0.50 * falloff(-bell-0.5, 3) * on)
	heart := circle(q, vec{3, 0}, 8)
	k.paint(0.06, 0.7*fill(heart-2.2))
	k.paint(0.92, fill(heart))
	k.paint(1, fill(heart+3))
	return k
}

func drifterCore(p vec) ink {
	q := p.sub(drifterMiddle)
	heart := circle(q, vec{3, 0}, 7)
	var k ink
	k.glow(0.75 * halo(max(heart, 0), 22))
	k.glow(0.95 * falloff(heart+2, 5))
	k.glow(0.32 * falloff(math.Abs(drifterRim(q)), 2.5))
	k.glow(0.30 * halo(math.Abs(q.length()-drifterRadius), 5))
	return k
}

// The lancer is a needle: three times as long as it is wide.
var (
	lancerHead  = from(43, 0).line(0, 15).line(9, 4).line(9, 0).symmetric()
	lancerBlade = from(36, 0).line(9, 8).line(14, 0).symmetric()
	lancerFin   = from(-20, 3).line(-30, 5).line(-43, 15).line(-43, 10).line(-36, 2)
)

func lancer(p vec) ink {
	m := p.mirrored()
	head, fin := polygon(p, lancerHead), polygon(m, lancerFin)
	shaft := box(p, vec{-14, 0}, vec{28, 4.5}, 2)
	body := min(head, fin, shaft)

	var k ink
	k.paint(0.02, 0.9*fill(body-2.6))
	k.paint(0.62, fill(shaft))
	k.paint(0.14, fill(math.Abs(math.Mod(p.x+60, 10)-5)-1)*fill(shaft))
	k.paint(mix(0.55, 0.9, falloff(-fin, 4)), fill(fin))
	k.paint(mix(0.6, 0.85, step(0, 30, p.x)), fill(head))
	k.light(0.4 * falloff(-head, 3.5) * fill(head))
	k.paint(1, fill(polygon(p, lancerBlade)))
	return k
}

func lancerCore(p vec) ink {
	var k ink
	eye := taper(p, vec{12, 0}, vec{34, 0}, 2.6, 0.4)
	k.glow(0.5 * halo(max(eye, 0), 12))
	k.glow(0.95 * falloff(eye, 3))
	k.glow(0.35 * falloff(taper(p, vec{-36, 0}, vec{4, 0}, 0.4, 1.2), 3))
	k.glow(0.6 * halo(circle(p, vec{-38, 0}, 1.5), 8))
	return k
}

// The swarm is a moth of four blades, the front ones longer.
func swarmBlades(m vec) float64 {
	return min(taper(m, vec{1, 1}, vec{11, 14.5}, 4.4, 1), taper(m, vec{-1, 1}, vec{-12, 12}, 4, 1))
}

func swarm(p vec) ink {
	blades, body := swarmBlades(p.mirrored()), circle(p, vec{}, 5)

	var k ink
	k.paint(0.02, 0.9*fill(min(blades, body)-1.6))
	k.paint(mix(0.75, 0.4, step(4, 17, p.length())), fill(blades))
	k.light(0.35 * falloff(-blades, 2) * fill(blades))
	k.paint(0.06, fill(body))
	k.paint(1, fill(body+2))
	return k
}

func swarmCore(p vec) ink {
	var k ink
	k.glow(0.5 * halo(circle(p, vec{}, 3), 8))
	k.glow(0.9 * falloff(circle(p, vec{}, 2), 2.5))
	return k
}
