package realm

import (
	"math"

	"github.com/strata-go/strata/engine"
)

func mul(a, b float32) float32 { return float32(a * b) }

// thirds is a third of a cell in units: what a step of clearance is.
const thirds = float32(CellSize) / 3

// InvSqrt returns 1/sqrt(x) with a relative error of at most 5e-6, for x from 1e-30 up. It starts with a guess from the
// bits of x (Lomont, "Fast inverse square root", 2003) and takes two Newton steps, without a division.
func InvSqrt(x float32) float32 {
	y := math.Float32frombits(0x5f375a86 - math.Float32bits(x)>>1)
	h := mul(x, 0.5)
	y = mul(y, 1.5-mul(h, mul(y, y)))
	return mul(y, 1.5-mul(h, mul(y, y)))
}

// Solid reports whether a place is in a wall, or outside of the world.
func (r *Realm) Solid(p vec) bool {
	if !(p[0] >= 0 && p[1] >= 0 && p[0] < World && p[1] < World) {
		return true
	}
	return r.clear != nil && r.clear[int(p[1])/CellSize*Cells+int(p[0])/CellSize] == 0
}

// Room returns the distance from p to the nearest wall or edge of the world, in units. The result may be too small or
// too large, by at most CellSize plus 6 % of the distance. It is never more than 680. In a wall or outside of the world
// Room returns 0.
func (r *Realm) Room(p vec) float32 {
	if r.Solid(p) {
		return 0
	}
	if r.clear == nil {
		d, _ := r.border(p)
		return min(d, 680)
	}
	return mul(float32(r.clear[int(p[1])/CellSize*Cells+int(p[0])/CellSize]), thirds) - CellSize/2
}

// Clear returns the clearance of each cell, its distance to the nearest wall in thirds of a cell, row by row. Use it
// for drawing, and do not change it. A bare realm returns nil.
func (r *Realm) Clear() []uint8 { return r.clear }

// Near reports whether a wall may lie within radius, in units, of p. Near is cheap, and may return true although no
// wall is near. If Near returns false and radius is at most 24, no wall lies within radius. For a larger radius, false
// means that no wall lies within 95 % of radius. Outside of the world Near returns true.
func (r *Realm) Near(p vec, radius float32) bool {
	if !(p[0] >= 0 && p[1] >= 0 && p[0] < World && p[1] < World) {
		return true
	}
	if r.clear == nil {
		return min(min(p[0], p[1]), min(World-p[0], World-p[1])) < radius
	}
	x, y, need := int32(p[0]), int32(p[1]), mul(radius+12, 1/thirds)
	if float32(r.open[y/CoarseSize*Coarse+x/CoarseSize]) >= need {
		return false
	}
	return float32(r.clear[y/CellSize*Cells+x/CellSize]) < need
}

// sample returns the distance to the nearest wall's face at p, between the middles of four cells,
// and the direction in which it grows, not of length 1.
func (r *Realm) sample(p vec) (d float32, out vec) {
	if r.clear == nil {
		return r.border(p)
	}
	x := clamp(mul(p[0], 1.0/CellSize)-0.5, 0, Cells-1.001)
	y := clamp(mul(p[1], 1.0/CellSize)-0.5, 0, Cells-1.001)
	cx, cy := int(x), int(y)
	fx, fy := x-float32(cx), y-float32(cy)
	c := r.clear[cy*Cells+cx:]
	a, b := float32(c[0]), float32(c[1])
	e, f := float32(c[Cells]), float32(c[Cells+1])
	top, bottom := a+mul(b-a, fx), e+mul(f-e, fx)
	d = mul(top+mul(bottom-top, fy), thirds) - CellSize/2
	return d, vec{mul(b-a, 1-fy) + mul(f-e, fy), mul(e-a, 1-fx) + mul(f-b, fx)}
}

// border is sample where there is nothing but the world's edge.
func (r *Realm) border(p vec) (d float32, out vec) {
	d = p[0]
	out = vec{1, 0}
	for _, e := range [3]struct {
		d   float32
		out vec
	}{{World - p[0], vec{-1, 0}}, {p[1], vec{0, 1}}, {World - p[1], vec{0, -1}}} {
		if e.d < d {
			d, out = e.d, e.out
		}
	}
	return d, out
}

// clamp returns lo for a NaN, which a damaged file may have for a place: sample makes an index of it.
func clamp(v, lo, hi float32) float32 {
	if v > lo {
		return min(hi, v)
	}
	return lo
}

// Slide keeps a disc that has moved to *p with velocity *v out of the walls. It pushes the disc out by up to CellSize,
// and reflects the part of *v that points into the wall. This part keeps the share `bounce` of its speed. If from,
// where the disc was before, is not in a wall, *p is not in one afterwards, at any speed. The rim of the disc may still
// be in a wall, and a step may jump over a wall that is thinner than the step. If pushing fails, *p becomes from, and
// all of *v is reflected. Slide reports whether the disc touched a wall.
func (r *Realm) Slide(p, v *vec, from vec, radius, bounce float32) bool {
	if !r.Near(*p, radius) {
		return false
	}
	return r.slide(p, v, from, radius, bounce)
}

func (r *Realm) slide(p, v *vec, from vec, radius, bounce float32) bool {
	touched := r.Solid(*p)
	if touched {
		r.creep(p, v, from, bounce)
	}
	d, out := r.sample(*p)
	if d >= radius && !r.Solid(*p) {
		return touched
	}
	if sq := engine.LengthSquared(out); sq > 0 {
		n := engine.Scale(out, InvSqrt(sq))
		*p = engine.MulAdd(*p, n, min(radius-d, CellSize))
		if into := engine.Dot(*v, n); into < 0 {
			*v = engine.MulAdd(*v, n, -mul(into, 1+bounce))
		}
	}
	if r.Solid(*p) {
		*p, *v = from, engine.Scale(*v, -bounce)
	}
	return true
}

// creep takes back the step along one axis, where the place is open then.
func (r *Realm) creep(p, v *vec, from vec, bounce float32) {
	for axis := range 2 {
		q := *p
		q[axis] = from[axis]
		if !r.Solid(q) {
			*p = q
			v[axis] = -mul(v[axis], bounce)
			return
		}
	}
}

// Sees reports whether the straight line between two places is free of walls. It may miss a corner that the line cuts
// for less than a third of a cell.
func (r *Realm) Sees(a, b vec) bool {
	if r.Solid(a) || r.Solid(b) {
		return false
	}
	to := b.Sub(a)
	sq := engine.LengthSquared(to)
	if sq < 1 {
		return true
	}
	inv := InvSqrt(sq)
	dir, length := engine.Scale(to, inv), mul(sq, inv)
	for at := float32(0); at < length; {
		p := engine.MulAdd(a, dir, at)
		if r.Solid(p) {
			return false
		}
		// As far as no wall can be, and where one may be near a third of a cell.
		at += max(thirds, mul(r.Room(p), 0.9)-CellSize)
	}
	return true
}

// Guide returns the direction from a place towards the goal of a guide, along the paths, as a vector of length 1. If no
// path leads there, the vector is zero. It is also zero in the node of the goal, and in a [Bare] realm only at the goal
// itself. Guide panics if guide is not from 0 to Heart.
func (r *Realm) Guide(guide int, p vec) vec {
	if r.clear == nil {
		return engine.Normalize(r.Place(guide).Sub(p))
	}
	return r.Steer(r.guides[guide][coarse(p[1])*Coarse+coarse(p[0])], p)
}

// Steer returns the direction to go from p, as a vector of length 1, or of length 0 if d is 0. The argument d is an
// index of [Headings]: the direction to go from the node of p, for example the result of [Field.At]. In the open Steer
// returns Headings[d]. Near walls Steer turns this direction towards the middle of the path.
func (r *Realm) Steer(d uint8, p vec) vec {
	h := Headings[d]
	if d == 0 || r.clear == nil || !r.Near(p, 3*CellSize) {
		return h
	}
	c := r.meeting(coarse(p[0]), coarse(p[1]))
	to := vec{float32(c%Cells*CellSize+CellSize/2) - p[0], float32(c/Cells*CellSize+CellSize/2) - p[1]}
	if along := engine.Dot(to, h); along < 0 { // it is behind: only sideways, or nobody would get away
		to = engine.MulAdd(to, h, -along)
	}
	h = engine.MulAdd(h, to, 1.0/12)
	if sq := engine.LengthSquared(h); sq > 1e-6 {
		return engine.Scale(h, InvSqrt(sq))
	}
	return h
}

// Open returns a place close to p that has space for a disc of about this radius: p itself, or the middle of a cell of
// the rings around p. If no cell within 63 cells has the space, Open returns p. In a [Bare] realm the place is p, moved
// into the world if necessary.
func (r *Realm) Open(p vec, radius float32) vec {
	if r.clear == nil {
		return vec{clamp(p[0], radius, World-radius), clamp(p[1], radius, World-radius)}
	}
	cx, cy := min(max(int(p[0])/CellSize, 0), Cells-1), min(max(int(p[1])/CellSize, 0), Cells-1)
	need := uint8(min(255, mul(radius+CellSize, 1/thirds)))
	for ring := range 64 {
		for y := cy - ring; y <= cy+ring; y++ {
			step := 1
			if y != cy-ring && y != cy+ring {
				step = max(1, 2*ring)
			}
			for x := cx - ring; x <= cx+ring; x += step {
				if uint(x) < Cells && uint(y) < Cells && r.clear[y*Cells+x] >= need {
					if ring == 0 {
						return p
					}
					return vec{float32(x*CellSize + CellSize/2), float32(y*CellSize + CellSize/2)}
				}
			}
		}
	}
	return p
}
