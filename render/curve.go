package render

import "math"

// Sparkline draws a curve. The last value of curve is the newest value and lies at the right edge. The scale reaches
// from 0 to top. Higher values are drawn at top. If top is 0 or less, the scale reaches to the power of two above the
// highest value, so it rarely changes.
//
// The width w represents `of` values. A curve with fewer values is shorter in proportion. A curve with more values
// fills the width. Negative values and NaN count as 0. If curve has fewer than two values, or if neither top nor any
// value is above 0, Sparkline draws only the base line.
func (p *Panel) Sparkline(x, y, w, h float32, curve []float32, of int, top float32, accent Color) {
	q, n := p.Q, len(curve)
	x, y = p.X+x, p.Y+y
	q.Rect(x, y+h-1, w, 1, PanelEdge)
	if top <= 0 {
		top = ceiling(curve)
	}
	if n < 2 || top <= 0 {
		return
	}
	step := w / float32(max(of, n)-1)
	s := spark{curve: curve, x: x + w - step*float32(n-1), y: y, step: step, h: h, top: top}
	if q.Room() < 2*n { // two strips of n-1 quads
		q.Dropped++
		return
	}
	area, _ := q.strip(n)
	line, _ := q.strip(n)
	s.area(q, area, accent)
	s.line(q, line, accent)
}

// ceiling returns the power of two that the values stay below, 0 if none is above 0.
func ceiling(curve []float32) float32 {
	most := float32(0)
	for _, v := range curve {
		if v > most { // NaN is not
			most = v
		}
	}
	if !(most > 0) {
		return 0
	}
	_, exp := math.Frexp(float64(min(most, math.MaxFloat32/4)))
	return float32(math.Ldexp(1, exp))
}

// A spark is a curve and where it is drawn.
type spark struct {
	curve   []float32
	x, y    float32
	step, h float32
	top     float32
}

// at returns how far above the base value i is, in panel pixels.
func (s *spark) at(i int) float32 {
	v := s.curve[i]
	if !(v > 0) {
		return s.y + s.h
	}
	return s.y + s.h*(1-min(v/s.top, 1))
}

// area fills below the curve, fading toward the base.
func (s *spark) area(q *Quads, v []Vertex, c Color) {
	k, u, w := q.view.Scale, q.white.X0, q.white.Y0
	base, strong, weak := (s.y+s.h)*k+q.view.Y, c.Fade(0.42), c.Fade(0.06)
	for i := 0; i+1 < len(v); i += 2 {
		px := (s.x+s.step*float32(i/2))*k + q.view.X
		set(&v[i], px, s.at(i/2)*k+q.view.Y, u, w, strong)
		set(&v[i+1], px, base, u, w, weak)
	}
}

// line draws the curve itself, a soft line one and a half pixels thick at any slope.
func (s *spark) line(q *Quads, v []Vertex, c Color) {
	k, u := q.view.Scale, q.line.X0
	half := 0.75 * k
	n := len(v) / 2
	at := func(i int) float32 { return s.at(i)*k + q.view.Y }
	prev, here := at(0), at(0)
	for i := range n {
		next := here
		if i+1 < n {
			next = at(i + 1)
		}
		// The normal of the slope through both neighbours; a spike keeps its width.
		dx, dy := 2*s.step*k, next-prev
		l := float32(math.Sqrt(float64(dx*dx + dy*dy)))
		nx, ny := dy/l*half, -dx/l*half
		px := (s.x+s.step*float32(i))*k + q.view.X
		set(&v[2*i], px+nx, here+ny, u, q.line.Y0, c)
		set(&v[2*i+1], px-nx, here-ny, u, q.line.Y1, c)
		prev, here = here, next
	}
}
