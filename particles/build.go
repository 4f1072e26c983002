package particles

import (
	"fmt"
	"math"

	"github.com/strata-go/strata/memory"
)

// A Vertex has the memory layout of ebiten.Vertex (Ebitengine 2.10), so a renderer can convert the slice with package
// unsafe. Its colours are premultiplied: draw with DrawTriangles32 and ebiten.ColorScaleModePremultipliedAlpha. With
// the default mode of Ebitengine, particles of an additive [Kind] are invisible. This package does not import
// Ebitengine. A Vertex has 48 bytes and no pointers. Build does not write the custom fields.
type Vertex struct {
	DstX, DstY                         float32 // pixels
	SrcX, SrcY                         float32 // texels
	ColorR, ColorG, ColorB, ColorA     float32 // premultiplied
	Custom0, Custom1, Custom2, Custom3 float32
}

// A Region is a kind's rectangle in the texture, in texels.
type Region struct{ X0, Y0, X1, Y1 float32 }

// A View maps the world to pixels: pixel = p*Scale + (X, Y). A View is W × H pixels large. Build skips quads outside
// of [0, W] × [0, H], except some that nearly touch this rectangle.
type View struct{ X, Y, Scale, W, H float32 }

// Build writes VertsPerQuad vertices and IndicesPerQuad indices for each visible particle that fits.
const (
	VertsPerQuad   = 4 // vertices of a particle
	IndicesPerQuad = 6 // indices of a particle: two triangles
)

// Build writes a quad of four vertices and six indices for every visible particle, see [View]. Indices count from
// base. The slice `regions` has at least one region for each kind, in the order of the IDs. The results nv and ni
// are the numbers of vertices and indices that Build wrote. The result `dropped` is the number of quads that had no
// space in verts or indices. The slices belong to the caller: Build neither grows nor keeps them.
//
// The quads have the order of the rows. Update changes the order of the rows, so particles that must lie above others
// belong in a second System. Build allocates nothing. If there are fewer regions than kinds, or if the System is
// closed, Build panics with a *memory.Misuse. Cost: see the package documentation.
func (s *System) Build(v View, regions []Region, verts []Vertex, indices []uint32, base uint32) (nv, ni, dropped int) {
	s.open("Build")
	if len(regions) < len(s.kinds) {
		panic(&memory.Misuse{Package: "particles", Op: "Build", Reason: fmt.Sprintf("%d regions for %d kinds", len(regions), len(s.kinds))})
	}
	kind := s.kind[:s.n]
	n := len(kind)
	x, y, vx, vy := s.x[:n], s.y[:n], s.vx[:n], s.vy[:n]
	left, births, tint := s.left[:n], s.birth[:n], s.tint[:n]
	looks := s.looks
	regions = regions[:len(looks)]
	fit := min(len(verts)/VertsPerQuad, len(indices)/IndicesPerQuad)
	quads := 0
	for i, k := range kind {
		l := &looks[k]
		at := &births[i]
		t := 1 - left[i]*at.inv
		sh := &l.ramp[uint32(int32(t*(rampSteps-1.0/64)))%rampSteps]
		px, py := x[i]*v.Scale+v.X, y[i]*v.Scale+v.Y
		h := at.size * sh.size * v.Scale * 0.5
		ax, ay := h, float32(0) // half the quad's first side
		bx, by := float32(0), h // and half its second
		reach := h
		switch l.mode {
		case turned:
			d := &circle[uint32(int32((at.rot+at.spin*t)*circleSteps))%circleSteps]
			ax, ay = h*d.cos, h*d.sin
			bx, by = -ay, ax
			reach = h * math.Sqrt2
		case stretched:
			ax, ay, bx, by = along(vx[i], vy[i], h, l.stretch*v.Scale)
			reach = abs(ax) + abs(ay) + h
		}
		// Written so that NaN is not visible.
		if !(px+reach >= 0 && px-reach <= v.W && py+reach >= 0 && py-reach <= v.H) {
			continue
		}
		if quads == fit {
			dropped++
			continue
		}
		f := 1 - l.vary*float32(tint[i])
		r, g, b, a := sh.color.R*f, sh.color.G*f, sh.color.B*f, sh.color.A
		reg := &regions[k]
		q := (*[VertsPerQuad]Vertex)(verts[VertsPerQuad*quads:])
		q[0].set(px-ax-bx, py-ay-by, reg.X0, reg.Y0, r, g, b, a)
		q[1].set(px+ax-bx, py+ay-by, reg.X1, reg.Y0, r, g, b, a)
		q[2].set(px-ax+bx, py-ay+by, reg.X0, reg.Y1, r, g, b, a)
		q[3].set(px+ax+bx, py+ay+by, reg.X1, reg.Y1, r, g, b, a)
		ix := (*[IndicesPerQuad]uint32)(indices[IndicesPerQuad*quads:])
		first := base + VertsPerQuad*uint32(quads)
		ix[0], ix[1], ix[2] = first, first+1, first+2
		ix[3], ix[4], ix[5] = first+1, first+3, first+2
		quads++
	}
	return VertsPerQuad * quads, IndicesPerQuad * quads, dropped
}

func (v *Vertex) set(x, y, sx, sy, r, g, b, a float32) {
	v.DstX, v.DstY, v.SrcX, v.SrcY = x, y, sx, sy
	v.ColorR, v.ColorG, v.ColorB, v.ColorA = r, g, b, a
}

// along returns the half sides of a quad of half height h, longer along (vx, vy) by stretch times
// the speed.
func along(vx, vy, h, stretch float32) (ax, ay, bx, by float32) {
	q := vx*vx + vy*vy
	if !(q > 0) {
		return h, 0, 0, h
	}
	unit := h / sqrt(q)
	return vx * (unit + stretch), vy * (unit + stretch), -vy * unit, vx * unit
}

func abs(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1 << 31)) }

// sqrt is correctly rounded on every architecture, as IEEE 754 requires: for a square root the
// intermediate float64 changes nothing.
func sqrt(v float32) float32 { return float32(math.Sqrt(float64(v))) }
