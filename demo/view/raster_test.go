package view

import (
	"image"
	"math"

	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/render"
)

// A raster draws batches without a GPU: triangles, filtered linearly, premultiplied and source-over, as the renderer
// asks of Ebitengine. It has only the pixels of clip. Each has three components from 0 to 1.
type raster struct {
	clip   image.Rectangle // of the window, in pixels
	pix    [][3]float32
	texels []byte // of the atlas's page
}

func newRaster(clip image.Rectangle, texels []byte) *raster {
	return &raster{clip: clip, pix: make([][3]float32, clip.Dx()*clip.Dy()), texels: texels}
}

// fill sets all pixels to an opaque colour.
func (r *raster) fill(c render.Color) {
	for i := range r.pix {
		r.pix[i] = [3]float32{c.R, c.G, c.B}
	}
}

// floor draws a sector's picture, in the world's units.
func (r *raster) floor(at ground.Sector, rows []byte, view render.View) {
	for y := r.clip.Min.Y; y < r.clip.Max.Y; y++ {
		for x := r.clip.Min.X; x < r.clip.Max.X; x++ {
			wx := int(math.Floor(float64((float32(x)+0.5-view.X)/view.Scale))) - int(at.X)*ground.SectorSize
			wy := int(math.Floor(float64((float32(y)+0.5-view.Y)/view.Scale))) - int(at.Y)*ground.SectorSize
			if uint(wx) < ground.SectorSize && uint(wy) < ground.SectorSize {
				t := rows[4*(wy*ground.SectorSize+wx):]
				r.pix[r.index(x, y)] = [3]float32{float32(t[0]) / 255, float32(t[1]) / 255, float32(t[2]) / 255}
			}
		}
	}
}

func (r *raster) index(x, y int) int { return (y-r.clip.Min.Y)*r.clip.Dx() + x - r.clip.Min.X }

// draw draws a batch.
func (r *raster) draw(q *render.Quads) {
	v, ix := q.Vertices(), q.Indices()
	for i := 0; i+2 < len(ix); i += 3 {
		r.triangle(&v[ix[i]], &v[ix[i+1]], &v[ix[i+2]])
	}
}

// An edge of a triangle: its value at a pixel is 0 on the edge and positive inside.
type edge struct {
	x, y, dx, dy float32
	owns         bool // a pixel on the edge belongs to the triangle
}

func edgeOf(a, b *render.Vertex) edge {
	dx, dy := b.DstX-a.DstX, b.DstY-a.DstY
	return edge{a.DstX, a.DstY, dx, dy, dy < 0 || dy == 0 && dx > 0}
}

func (e *edge) at(x, y float32) (value float32, in bool) {
	value = e.dx*(y-e.y) - e.dy*(x-e.x)
	return value, value > 0 || value == 0 && e.owns
}

func (r *raster) triangle(a, b, c *render.Vertex) {
	area := (b.DstX-a.DstX)*(c.DstY-a.DstY) - (b.DstY-a.DstY)*(c.DstX-a.DstX)
	if area < 0 {
		b, c, area = c, b, -area
	}
	lowX, highX := min(a.DstX, b.DstX, c.DstX), max(a.DstX, b.DstX, c.DstX)
	lowY, highY := min(a.DstY, b.DstY, c.DstY), max(a.DstY, b.DstY, c.DstY)
	x0, x1 := max(int(lowX), r.clip.Min.X), min(int(highX)+1, r.clip.Max.X)
	y0, y1 := max(int(lowY), r.clip.Min.Y), min(int(highY)+1, r.clip.Max.Y)
	if area == 0 || x0 >= x1 || y0 >= y1 {
		return
	}
	toA, toB, toC := edgeOf(b, c), edgeOf(c, a), edgeOf(a, b)
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			px, py := float32(x)+0.5, float32(y)+0.5
			ka, inA := toA.at(px, py)
			kb, inB := toB.at(px, py)
			kc, inC := toC.at(px, py)
			if inA && inB && inC {
				r.blend(r.index(x, y), a, b, c, ka/area, kb/area, kc/area)
			}
		}
	}
}

func (r *raster) blend(i int, a, b, c *render.Vertex, ka, kb, kc float32) {
	t := r.sample(a.SrcX*ka+b.SrcX*kb+c.SrcX*kc, a.SrcY*ka+b.SrcY*kb+c.SrcY*kc)
	cover := t[3] * (a.ColorA*ka + b.ColorA*kb + c.ColorA*kc)
	light := [3]float32{
		t[0] * (a.ColorR*ka + b.ColorR*kb + c.ColorR*kc), t[1] * (a.ColorG*ka + b.ColorG*kb + c.ColorG*kc), t[2] * (a.ColorB*ka + b.ColorB*kb + c.ColorB*kc),
	}
	for k := range light {
		r.pix[i][k] = min(max(light[k]+r.pix[i][k]*(1-cover), 0), 1)
	}
}

// sample filters the page linearly.
func (r *raster) sample(x, y float32) (t [4]float32) {
	const side = render.DefaultPage
	x, y = min(max(x-0.5, 0), side-2), min(max(y-0.5, 0), side-2)
	ix, iy := int(x), int(y)
	fx, fy := x-float32(ix), y-float32(iy)
	p, q := r.texels[4*(iy*side+ix):], r.texels[4*((iy+1)*side+ix):]
	for k := range t {
		up := float32(p[k])*(1-fx) + float32(p[4+k])*fx
		down := float32(q[k])*(1-fx) + float32(q[4+k])*fx
		t[k] = (up*(1-fy) + down*fy) / 255
	}
	return t
}

// A tint is a colour in OKLab, in which equal distances look equally different.
type tint struct{ l, a, b float64 }

func tintOf(p [3]float32) tint {
	lin := func(v float32) float64 {
		if v <= 0.04045 {
			return float64(v) / 12.92
		}
		return math.Pow((float64(v)+0.055)/1.055, 2.4)
	}
	r, g, b := lin(p[0]), lin(p[1]), lin(p[2])
	l := math.Cbrt(0.4122214708*r + 0.5363325363*g + 0.0514459929*b)
	m := math.Cbrt(0.2119034982*r + 0.6806995451*g + 0.1073969566*b)
	s := math.Cbrt(0.0883024619*r + 0.2817188376*g + 0.6299787005*b)
	return tint{
		l: 0.2104542553*l + 0.7936177850*m - 0.0040720468*s,
		a: 1.9779984951*l - 2.4285922050*m + 0.4505937099*s,
		b: 0.0259040371*l + 0.7827717662*m - 0.8086757660*s,
	}
}
