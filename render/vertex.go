package render

import (
	"github.com/hajimehoshi/ebiten/v2"
)

// A Vertex is Ebitengine's vertex: position in pixels of the window or the scene, atlas position in texels,
// premultiplied colour. A Vertex has 48 bytes and no pointer. Quads does not write the custom fields.
type Vertex = ebiten.Vertex

// VertsPerQuad and IndicesPerQuad are the sizes of a quad in the slices of [Quads.Begin].
const (
	VertsPerQuad   = 4
	IndicesPerQuad = 6
)

// Quads writes sprites, fills, lines and text into slices that the caller owns. Quads never grows these slices. If a
// shape does not fit, the method returns false and counts the shape in Dropped. The zero Quads drops all shapes.
//
// Sprites are placed by their centre, pictures, rectangles and text by their top left corner. Positions are coordinates
// of the current View. Angles are in radians, clockwise on the screen. An angle of 1e4 or more, positive or negative,
// counts as 0.
type Quads struct {
	// Dropped counts the shapes since Begin that did not fit. If Dropped is not 0, the slices are too small. A game
	// should show this number.
	Dropped int

	// Invariants:
	//
	//	(1) nv <= len(verts) and ni <= len(indices)
	//	(2) ni is a multiple of 3
	//	(3) every one of indices[:ni] is below nv
	verts   []Vertex
	indices []uint32
	nv, ni  int
	view    View
	white   Region // one texel's centre, so that solid fills do not filter
	line    Region // soft across, solid along
	soft    Region
}

// Begin starts a batch that is written to verts and indices, in coordinates of v. It sets Dropped to 0. Both slices
// must stay valid until the batch is submitted. Their former contents are never drawn. The atlas provides the regions
// for solid fills, lines and glows. If the game draws no such shapes, the atlas may be nil.
func (q *Quads) Begin(verts []Vertex, indices []uint32, a *Atlas, v View) {
	*q = Quads{verts: verts, indices: indices, view: v}
	if a != nil {
		q.white, q.line, q.soft = a.white, a.line, a.soft
	}
}

// SetView changes the view for all later shapes and returns the former view. World, HUD and overlay can thus share one
// batch.
func (q *Quads) SetView(v View) View {
	old := q.view
	q.view = v
	return old
}

// View returns the current view.
func (q *Quads) View() View { return q.view }

// Vertices returns the vertices written since Begin, as a part of the slice passed to Begin.
func (q *Quads) Vertices() []Vertex { return q.verts[:q.nv] }

// Indices returns the indices written since Begin, three for each triangle, as a part of the slice passed to Begin.
func (q *Quads) Indices() []uint32 { return q.indices[:q.ni] }

// Len returns the number of vertices written.
func (q *Quads) Len() int { return q.nv }

// Room returns the number of quads that still fit.
func (q *Quads) Room() int {
	return min((len(q.verts)-q.nv)/VertsPerQuad, (len(q.indices)-q.ni)/IndicesPerQuad)
}

// Sprite draws r with its centre at (x, y) and size w × h, turned by rot radians. If the batch has no space, Sprite
// returns false.
func (q *Quads) Sprite(r Region, x, y, w, h, rot float32, c Color) bool {
	if rot != 0 {
		s, co := sincos(rot)
		return q.Turned(r, x, y, w, h, co, s, c)
	}
	return q.Picture(r, x-w/2, y-h/2, w, h, c)
}

// Turned is [Quads.Sprite] for a known direction (cos, sin), for example the direction of a velocity. The picture's +x
// axis points in this direction. A direction whose length is not 1 scales the picture.
func (q *Quads) Turned(r Region, x, y, w, h, cos, sin float32, c Color) bool {
	v, ix, ok := q.quad()
	if !ok {
		return false
	}
	k := q.view.Scale
	x, y = x*k+q.view.X, y*k+q.view.Y
	hw, hh := w*k/2, h*k/2
	ax, ay := cos*hw, sin*hw  // half the picture's x axis
	bx, by := -sin*hh, cos*hh // and half its y axis
	set(&v[0], x-ax-bx, y-ay-by, r.X0, r.Y0, c)
	set(&v[1], x+ax-bx, y+ay-by, r.X1, r.Y0, c)
	set(&v[2], x-ax+bx, y-ay+by, r.X0, r.Y1, c)
	set(&v[3], x+ax+bx, y+ay+by, r.X1, r.Y1, c)
	index(ix, uint32(q.nv-VertsPerQuad))
	return true
}

// Picture draws r with its top left corner at (x, y), stretched to w × h. If the batch has no space, Picture returns
// false.
func (q *Quads) Picture(r Region, x, y, w, h float32, c Color) bool {
	v, ix, ok := q.quad()
	if !ok {
		return false
	}
	k := q.view.Scale
	x0, y0 := x*k+q.view.X, y*k+q.view.Y
	x1, y1 := x0+w*k, y0+h*k
	set(&v[0], x0, y0, r.X0, r.Y0, c)
	set(&v[1], x1, y0, r.X1, r.Y0, c)
	set(&v[2], x0, y1, r.X0, r.Y1, c)
	set(&v[3], x1, y1, r.X1, r.Y1, c)
	index(ix, uint32(q.nv-VertsPerQuad))
	return true
}

// quad takes the space of one quad, or counts the drop.
func (q *Quads) quad() (*[VertsPerQuad]Vertex, *[IndicesPerQuad]uint32, bool) {
	nv, ni := q.nv, q.ni
	if len(q.verts)-nv < VertsPerQuad || len(q.indices)-ni < IndicesPerQuad {
		q.Dropped++
		return nil, nil, false
	}
	q.nv, q.ni = nv+VertsPerQuad, ni+IndicesPerQuad
	return (*[VertsPerQuad]Vertex)(q.verts[nv:]), (*[IndicesPerQuad]uint32)(q.indices[ni:]), true
}

// strip takes space for n pairs of vertices joined by n-1 quads, writes the indices, and
// returns the vertices: even ones on one side, odd ones on the other.
func (q *Quads) strip(n int) ([]Vertex, bool) {
	nv, ni := 2*n, IndicesPerQuad*(n-1)
	if n < 2 || len(q.verts)-q.nv < nv || len(q.indices)-q.ni < ni {
		q.Dropped++
		return nil, false
	}
	v := q.verts[q.nv : q.nv+nv]
	for i := range n - 1 {
		index((*[IndicesPerQuad]uint32)(q.indices[q.ni+IndicesPerQuad*i:]), uint32(q.nv+2*i))
	}
	q.nv, q.ni = q.nv+nv, q.ni+ni
	return v, true
}

func set(v *Vertex, x, y, u, w float32, c Color) {
	v.DstX, v.DstY, v.SrcX, v.SrcY = x, y, u, w
	v.ColorR, v.ColorG, v.ColorB, v.ColorA = c.R, c.G, c.B, c.A
}

// index joins the corners 0 1 / 2 3 into two triangles.
func index(ix *[IndicesPerQuad]uint32, n uint32) {
	ix[0], ix[1], ix[2] = n, n+1, n+2
	ix[3], ix[4], ix[5] = n+1, n+3, n+2
}

// sincos is good to 2e-5 for |a| up to 1e4, far below a pixel at any sprite size; for
// larger angles float32 itself has lost the phase.
func sincos(a float32) (sin, cos float32) {
	const (
		twoOverPi = 0.636619772367581343076
		halfPiHi  = 1.5703125                // exact in 8 bits, so that n*halfPiHi is exact
		halfPiLo  = 4.8382679489661923132e-4 // the rest
		bias      = 1 << 14                  // above 1e4 * 2/pi, so that the sum is positive
	)
	if !(a > -1e4 && a < 1e4) {
		return 0, 1 // NaN, infinite, or without a phase
	}
	n := int32(a*twoOverPi+bias+0.5) - bias // rounded to nearest: the conversion truncates
	f := float32(n)
	x := float32(a-f*halfPiHi) - f*halfPiLo
	x2 := x * x
	s := x * (1 + x2*(-1.0/6+x2*(1.0/120-x2*(1.0/5040))))
	c := 1 + x2*(-0.5+x2*(1.0/24+x2*(-1.0/720+x2*(1.0/40320))))
	switch n & 3 {
	case 0:
		return s, c
	case 1:
		return c, -s
	case 2:
		return -s, -c
	}
	return -c, s
}
