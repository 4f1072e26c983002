package render

import "math"

// Rect fills a rectangle of w × h with its top left corner at (x, y). If the batch has no space, Rect returns false.
func (q *Quads) Rect(x, y, w, h float32, c Color) bool {
	return q.Picture(q.white, x, y, w, h, c)
}

// Gradient is [Quads.Rect] with one colour along the top and another along the bottom.
func (q *Quads) Gradient(x, y, w, h float32, top, bottom Color) bool {
	n := q.nv
	if !q.Picture(q.white, x, y, w, h, top) {
		return false
	}
	setColor(&q.verts[n+2], bottom)
	setColor(&q.verts[n+3], bottom)
	return true
}

// Border draws the four edges of a rectangle inside the rectangle. The edges are t thick. If the batch has no space for
// all four, Border draws none and returns false.
func (q *Quads) Border(x, y, w, h, t float32, c Color) bool {
	if q.Room() < 4 {
		q.Dropped++
		return false
	}
	q.Rect(x, y, w, t, c)
	q.Rect(x, y+h-t, w, t, c)
	q.Rect(x, y+t, t, h-2*t, c)
	q.Rect(x+w-t, y+t, t, h-2*t, c)
	return true
}

// Line draws a line of thickness t with soft sides and square ends. A line of length 0 draws nothing and returns true.
// If the batch has no space, Line returns false.
func (q *Quads) Line(x0, y0, x1, y1, t float32, c Color) bool {
	dx, dy := x1-x0, y1-y0
	l := float32(math.Sqrt(float64(dx*dx + dy*dy)))
	if l == 0 {
		return true
	}
	return q.Turned(q.line, (x0+x1)/2, (y0+y1)/2, l, t, dx/l, dy/l, c)
}

// Tri fills a triangle. If the batch has no space, Tri returns false.
func (q *Quads) Tri(x0, y0, x1, y1, x2, y2 float32, c Color) bool {
	nv, ni := q.nv, q.ni
	if len(q.verts)-nv < 3 || len(q.indices)-ni < 3 {
		q.Dropped++
		return false
	}
	q.nv, q.ni = nv+3, ni+3
	k, ox, oy, w := q.view.Scale, q.view.X, q.view.Y, q.white
	v := (*[3]Vertex)(q.verts[nv:])
	set(&v[0], x0*k+ox, y0*k+oy, w.X0, w.Y0, c)
	set(&v[1], x1*k+ox, y1*k+oy, w.X0, w.Y0, c)
	set(&v[2], x2*k+ox, y2*k+oy, w.X0, w.Y0, c)
	ix := (*[3]uint32)(q.indices[ni:])
	ix[0], ix[1], ix[2] = uint32(nv), uint32(nv+1), uint32(nv+2)
	return true
}

// Glow draws the built-in soft dot with its centre at (x, y) and radius rad. If the batch has no space, Glow returns
// false.
func (q *Quads) Glow(x, y, rad float32, c Color) bool {
	return q.Picture(q.soft, x-rad, y-rad, 2*rad, 2*rad, c)
}

// maxRing bounds the corners of a Ring: at 128 a circle over the whole screen is off by
// a tenth of a pixel.
const maxRing = 128

// Ring draws a band with soft edges around (x, y), for example a shock wave. The band reaches from radius rad-t/2 to
// rad+t/2. If corners is above 2, the band is a polygon with this number of corners, at most 128. Its corners then have
// these radii, and the first corner is at angle rot. If corners is 2 or less, the band is round, and rot has no effect.
// If the batch has no space, Ring returns false.
func (q *Quads) Ring(x, y, rad, t, rot float32, corners int, c Color) bool {
	if corners <= 2 {
		corners = 12 + int(min(max(rad*q.view.Scale/3, 0), maxRing))
	}
	corners = min(corners, maxRing)
	v, ok := q.strip(corners + 1)
	if !ok {
		return false
	}
	k, u := q.view.Scale, (q.line.X0+q.line.X1)/2
	x, y = x*k+q.view.X, y*k+q.view.Y
	inner, outer := max(rad-t/2, 0)*k, (rad+t/2)*k
	// One turn per corner is a rotation matrix: no sine in the loop.
	s, co := sincos(rot)
	ts, tc := sincos(2 * math.Pi / float32(corners))
	for i := 0; i+1 < len(v); i += 2 {
		set(&v[i], x+co*outer, y+s*outer, u, q.line.Y0, c)
		set(&v[i+1], x+co*inner, y+s*inner, u, q.line.Y1, c)
		co, s = co*tc-s*ts, s*tc+co*ts
	}
	return true
}

// Tiles covers a rectangle with copies of r, for example a parallax background. A texel of r is size × size units
// large, and (dx, dy) moves the pattern. Reserve r with [Atlas.ReserveTile]. If a copy is smaller than one unit, or the
// rectangle is empty, Tiles draws nothing and returns true. If the batch has no space for all copies, Tiles draws none
// and returns false.
func (q *Quads) Tiles(r Region, x, y, w, h, dx, dy, size float32, c Color) bool {
	tw, th := r.W()*size, r.H()*size
	if !(tw >= 1 && th >= 1 && w > 0 && h > 0) {
		return true
	}
	dx, dy = wrap(dx, tw), wrap(dy, th)
	cols, rows := math.Ceil(float64((w-dx)/tw)), math.Ceil(float64((h-dy)/th))
	if !(cols*rows <= float64(q.Room())) { // as floats: integers would overflow, and NaN must fail
		q.Dropped++
		return false
	}
	for j := range int(rows) {
		ty := y + dy + float32(j)*th
		y0, y1 := max(ty, y), min(ty+th, y+h)
		for i := range int(cols) {
			tx := x + dx + float32(i)*tw
			x0, x1 := max(tx, x), min(tx+tw, x+w)
			q.Picture(r.cut((x0-tx)/tw, (y0-ty)/th, (x1-tx)/tw, (y1-ty)/th), x0, y0, x1-x0, y1-y0, c)
		}
	}
	return true
}

// wrap returns a modulo m, above -m and up to 0: where the first tile begins.
func wrap(a, m float32) float32 {
	a = float32(math.Mod(float64(a), float64(m)))
	if a > 0 {
		a -= m
	}
	return a
}

func setColor(v *Vertex, c Color) {
	v.ColorR, v.ColorG, v.ColorB, v.ColorA = c.R, c.G, c.B, c.A
}
