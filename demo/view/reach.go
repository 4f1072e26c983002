package view

import "github.com/strata-go/strata/render"

// Bleed is a number of logical pixels. If the window has another shape than the logical screen, the world is drawn up
// to Bleed pixels beyond each edge of the screen. This is enough for phones, upright or not, and for old monitors. The
// horde arrives outside of this area, except some enemies of the nearest groups.
const Bleed = 110

// A reach is the drawable area in pixels of the canvas: what text may use and, in a window of another shape, the area
// around it. Shapes that darken or colour everything fill the reach.
type reach struct{ lo, hi vec }

func (r reach) fill(q *render.Quads, c render.Color) {
	q.Rect(r.lo[0], r.lo[1], r.hi[0]-r.lo[0], r.hi[1]-r.lo[1], c)
}

// fade fills what is above y, from c at the upper edge to nothing.
func (r reach) fade(q *render.Quads, y float32, c render.Color) {
	q.Gradient(r.lo[0], r.lo[1], r.hi[0]-r.lo[0], y-r.lo[1], c, render.Color{})
}

// rise fills what is below y, from nothing to c at the lower edge.
func (r reach) rise(q *render.Quads, y float32, c render.Color) {
	q.Gradient(r.lo[0], y, r.hi[0]-r.lo[0], r.hi[1]-y, render.Color{}, c)
}
