package main

import "math"

// A signed distance is in pixels: negative inside, zero on the edge, positive outside.

type vec struct{ x, y float64 }

func (p vec) add(q vec) vec              { return vec{p.x + q.x, p.y + q.y} }
func (p vec) sub(q vec) vec              { return vec{p.x - q.x, p.y - q.y} }
func (p vec) scale(s float64) vec        { return vec{p.x * s, p.y * s} }
func (p vec) dot(q vec) float64          { return p.x*q.x + p.y*q.y }
func (p vec) length() float64            { return math.Hypot(p.x, p.y) }
func (p vec) angle() float64             { return math.Atan2(p.y, p.x) }
func (p vec) mirrored() vec              { return vec{p.x, math.Abs(p.y)} }
func polar(r, angle float64) vec         { s, c := math.Sincos(angle); return vec{r * c, r * s} }
func mix(a, b, t float64) float64        { return a + (b-a)*t }
func clamp(v float64) float64            { return min(max(v, 0), 1) }
func circle(p, c vec, r float64) float64 { return p.sub(c).length() - r }

// rotated turns p by -angle, which turns the shape that p is measured against by +angle.
func (p vec) rotated(angle float64) vec {
	s, c := math.Sincos(angle)
	return vec{c*p.x + s*p.y, c*p.y - s*p.x}
}

// folded turns p into the sector of n around +X and returns the number of the sector that it came from.
func (p vec) folded(n int) (vec, int) {
	sector := 2 * math.Pi / float64(n)
	k := int(math.Floor(p.angle()/sector + 0.5))
	return p.rotated(float64(k) * sector), (k + n) % n
}

// segment is the distance from p to the line from a to b; along is 0 at a and 1 at b.
func segment(p, a, b vec) (d, along float64) {
	ab, ap := b.sub(a), p.sub(a)
	along = clamp(ap.dot(ab) / ab.dot(ab))
	return ap.sub(ab.scale(along)).length(), along
}

// taper is a segment with round ends whose radius goes from ra to rb.
func taper(p, a, b vec, ra, rb float64) float64 {
	d, along := segment(p, a, b)
	return d - mix(ra, rb, along)
}

func box(p, c, half vec, round float64) float64 {
	q := p.sub(c)
	dx, dy := math.Abs(q.x)-half.x+round, math.Abs(q.y)-half.y+round
	return math.Hypot(max(dx, 0), max(dy, 0)) + min(max(dx, dy), 0) - round
}

// hexagon has a flat side towards +X at the given apothem.
func hexagon(p vec, apothem float64) float64 {
	q, _ := p.folded(6)
	half := apothem * math.Tan(math.Pi/6)
	d := math.Hypot(q.x-apothem, max(math.Abs(q.y)-half, 0))
	if q.x < apothem {
		return -d
	}
	return d
}

func polygon(p vec, pts []vec) float64 {
	best, inside := math.Inf(1), false
	for i, a := range pts {
		b := pts[(i+1)%len(pts)]
		d, _ := segment(p, a, b)
		best = min(best, d)
		if (a.y > p.y) != (b.y > p.y) && p.x < a.x+(b.x-a.x)*(p.y-a.y)/(b.y-a.y) {
			inside = !inside
		}
	}
	if inside {
		return -best
	}
	return best
}

// outlined is the distance to a line of the given width that runs along the edge of a shape.
func outlined(d, width float64) float64 { return math.Abs(d) - width/2 }

// fill turns a distance into coverage with one pixel of anti-aliasing.
func fill(d float64) float64 { return clamp(0.5 - d) }

// falloff is 1 at and inside the edge and reaches 0, smoothly, reach pixels outside it.
func falloff(d, reach float64) float64 {
	t := 1 - clamp(d/reach)
	return t * t * (3 - 2*t)
}

// halo is a falloff with a bright middle and a long faint skirt.
func halo(d, reach float64) float64 {
	t := 1 - clamp(d/reach)
	return t * t * t
}

// step goes smoothly from 0 at lo to 1 at hi.
func step(lo, hi, v float64) float64 {
	t := clamp((v - lo) / (hi - lo))
	return t * t * (3 - 2*t)
}
