package main

import "math"

// Light and matter that explosions are made of. All but smoke and debris are meant to be added, not blended.

func soft(p vec) ink {
	r := p.length() / 30
	skirt := clamp(1 - r*r)
	var k ink
	k.glow(math.Exp(-4.2*r*r) * skirt * skirt)
	return k
}

func spark(p vec) ink {
	along := clamp((p.x + 30) / 46)
	head := 1 - clamp((p.x-16)/13)
	d := math.Abs(p.y)
	var k ink
	k.glow(0.6 * along * along * head * halo(d, 0.5+5.3*head))
	k.glow(along * head * falloff(d-0.8*along*head, 1.7))
	return k
}

func smoke(p vec) ink {
	u := p.scale(1.0 / 96)
	r := p.length() / 45
	w := warped(u, 3, 0.10, 31)
	puff := 0.5 + 0.5*cloud(w, 4, 4, 32)
	a := step(0.22, 0.95, puff+0.42-0.95*r*r) * clamp(1.25*(1-r))
	var k ink
	k.paint(0.38+0.5*puff*(1-0.5*r), 0.85*a)
	return k
}

func ring(p vec) ink {
	r := p.length()
	uneven := 0.85 + 0.15*math.Sin(7*p.angle()+1)*math.Sin(3*p.angle())
	var k ink
	if r > 112 {
		k.glow(falloff(r-112, 9))
	} else {
		k.glow(0.85 * uneven * math.Pow(clamp((r-52)/60), 3.2))
	}
	k.glow(falloff(math.Abs(r-112)-2.2, 2.5))
	return k
}

func flare(p vec) ink {
	var k ink
	beam := func(along, across, reach, width float64) float64 {
		t := clamp(1 - math.Abs(along)/reach)
		return t * t * halo(math.Abs(across), width*(0.2+0.8*t))
	}
	k.glow(0.95 * beam(p.x, p.y, 61, 10))
	k.glow(0.95 * beam(p.y, p.x, 61, 10))
	q := p.rotated(math.Pi / 4)
	k.glow(0.45 * (beam(q.x, q.y, 32, 7) + beam(q.y, q.x, 32, 7)))
	k.glow(0.55 * halo(p.length(), 40))
	k.glow(falloff(p.length()-2, 9))
	return k
}

var debrisShard = path{{11.5, -2}, {3, 8}, {-7, 10}, {-12, 1}, {-5, -9}, {4, -7}}

func debris(p vec) ink {
	d := polygon(p, debrisShard)
	facet, _ := segment(p, vec{11.5, -2}, vec{-5, 1})
	spur, _ := segment(p, vec{-5, 1}, vec{-7, 10})
	var k ink
	k.paint(0.02, 0.8*fill(d-1.2))
	tone := 0.38
	if p.y < 1-0.182*(p.x+5) {
		tone = 0.72
	}
	k.paint(tone, fill(d))
	k.light(0.25 * fill(min(facet, spur)-0.8))
	k.light(0.35 * falloff(-d, 2) * fill(d))
	return k
}

// portal is a dark hole inside a ring of light that winds inwards.
func portal(p vec) ink {
	r, angle := p.length(), p.angle()
	wind := 3*angle - 9*math.Log(max(r, 1)/60)
	arms := 0.5 + 0.5*math.Sin(wind+1.2*cloud(p.scale(1.0/256), 5, 3, 41))
	fine := 0.5 + 0.5*math.Sin(3*wind+2+2*cloud(p.scale(1.0/256), 8, 3, 42))
	band := step(46, 66, r) * falloff(r-70, 52)

	var k ink
	k.paint(0.02, 0.92*falloff(r-56, 12))
	k.glow(0.85 * band * arms * arms)
	k.glow(0.45 * band * fine * fine * fine)
	k.glow(0.25 * arms * step(8, 58, r) * fill(r-60))
	k.glow(0.9 * falloff(math.Abs(r-60)-1.6, 5))
	k.glow(0.35 * halo(math.Abs(r-60), 22))
	return k
}
