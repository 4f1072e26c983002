package main

import "math"

// The three small enemies. Each has one idea for its outline: drifter a disc with threads, lancer an arrow, swarm a wasp.

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

var (
	lancerHead  = from(43, 0).line(-7, 30).line(3, 7).line(3, 0).symmetric()
	lancerBlade = from(35, 0).line(4, 17).line(11, 0).symmetric()
	lancerFin   = from(-12, 3).line(-22, 5).line(-43, 24).line(-43, 18).line(-33, 2)
)

func lancer(p vec) ink {
	m := p.mirrored()
	head, fin := polygon(p, lancerHead), polygon(m, lancerFin)
	shaft := box(p, vec{-12, 0}, vec{24, 5}, 2)
	body := min(head, fin, shaft)

	var k ink
	k.paint(0.02, 0.9*fill(body-2.6))
	k.paint(0.42, fill(shaft))
	k.paint(0.10, fill(math.Abs(math.Mod(p.x+60, 8)-4)-1)*fill(shaft))
	k.paint(mix(0.40, 0.85, falloff(-fin, 4)), fill(fin))
	k.paint(mix(0.42, 0.62, step(0, 30, p.x)), fill(head))
	k.light(0.5 * falloff(-head, 4.5) * fill(head))
	blade := polygon(p, lancerBlade)
	k.paint(0.10, fill(blade-1.8)*fill(head))
	k.paint(mix(0.55, 1, step(8, 30, p.x)), fill(blade))
	return k
}

func lancerCore(p vec) ink {
	var k ink
	eye := taper(p, vec{12, 0}, vec{31, 0}, 3.4, 0.4)
	k.glow(0.55 * halo(max(eye, 0), 15))
	k.glow(0.95 * falloff(eye, 4))
	k.glow(0.35 * falloff(taper(p, vec{-34, 0}, vec{4, 0}, 0.4, 1.2), 3))
	k.glow(0.75 * halo(circle(p, vec{-35, 0}, 1.5), 9))
	return k
}

var (
	swarmBody = from(16, 0).curve(8, 2, 5, 5.5).curve(-2, 8, -8, 4).line(-16, 0).symmetric()
	swarmWing = from(5, 3).curve(0, 14, -11.5, 15.8).curve(-9, 8, -5, 3)
)

func swarm(p vec) ink {
	body, wing := polygon(p, swarmBody), polygon(p.mirrored(), swarmWing)

	var k ink
	k.paint(0.02, 0.85*fill(min(body, wing)-1.4))
	k.paint(0.55, fill(wing))
	k.light(0.4 * falloff(-wing, 3) * fill(wing))
	k.paint(0.05, fill(body-1.2)*fill(wing))
	k.paint(mix(0.65, 1, step(-6, 12, p.x)), fill(body))
	k.paint(0.12, fill(math.Abs(p.x+6)-1.3)*fill(body))
	return k
}

func swarmCore(p vec) ink {
	var k ink
	body := taper(p, vec{-3, 0}, vec{9, 0}, 2.2, 0.6)
	k.glow(0.7 * halo(max(body, 0), 9))
	k.glow(0.95 * falloff(body, 2.5))
	return k
}
