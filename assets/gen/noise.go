package main

import "math"

// Noise repeats over the unit square: every function takes a point u with one tile per unit and an integral number of
// lattice cells per tile.

// hash mixes a lattice point and a seed into 32 well-spread bits.
func hash(x, y int, seed uint32) uint32 {
	h := uint32(x)*0x8da6b343 ^ uint32(y)*0xd8163841 ^ seed*0xcb1ab31f
	h = (h ^ h>>16) * 0x7feb352d
	h = (h ^ h>>15) * 0x846ca68b
	return h ^ h>>16
}

// chance is a number in [0, 1) that belongs to a lattice point.
func chance(x, y int, seed uint32) float64 { return float64(hash(x, y, seed)) / (1 << 32) }

func wrap(i, n int) int { return ((i % n) + n) % n }

// gradient is smooth noise in about [-1, 1] with cells by cells lattice cells per tile.
func gradient(u vec, cells int, seed uint32) float64 {
	x, y := u.x*float64(cells), u.y*float64(cells)
	ix, iy := math.Floor(x), math.Floor(y)
	fx, fy := x-ix, y-iy
	corner := func(dx, dy int) float64 {
		h := chance(wrap(int(ix)+dx, cells), wrap(int(iy)+dy, cells), seed)
		g := polar(1, h*2*math.Pi)
		return g.x*(fx-float64(dx)) + g.y*(fy-float64(dy))
	}
	sx, sy := ease(fx), ease(fy)
	return 1.5 * mix(mix(corner(0, 0), corner(1, 0), sx), mix(corner(0, 1), corner(1, 1), sx), sy)
}

// ease has zero first and second derivative at both ends, so the lattice does not show.
func ease(t float64) float64 { return t * t * t * (t*(t*6-15) + 10) }

// cloud sums octaves of gradient noise; about [-1, 1].
func cloud(u vec, cells, octaves int, seed uint32) float64 {
	sum, weight, total := 0.0, 1.0, 0.0
	for i := range octaves {
		sum += weight * gradient(u, cells, seed+uint32(i)*101)
		total += weight
		weight /= 2
		cells *= 2
	}
	return sum / total
}

// warped pushes u around by amount tiles along smooth noise.
func warped(u vec, cells int, amount float64, seed uint32) vec {
	return u.add(vec{cloud(u, cells, 2, seed), cloud(u, cells, 2, seed+7)}.scale(amount))
}

// A cell is what a Voronoi diagram knows about a point. Distances are in lattice cells.
type cell struct {
	tone   float64 // random per cell, [0, 1)
	centre float64 // distance to the cell's own point
	edge   float64 // distance to the nearest border
	out    vec     // unit vector across that border
}

// voronoi returns the cell around u in a diagram of n by n jittered points per tile.
func voronoi(u vec, n int, seed uint32) cell {
	p := u.scale(float64(n))
	ix, iy := int(math.Floor(p.x)), int(math.Floor(p.y))
	var c cell
	var near [25]vec // the points of the 5 by 5 lattice cells around u, seen from u
	own, best := 0, math.Inf(1)
	for i := range near {
		x, y := ix+i%5-2, iy+i/5-2
		near[i] = sitePoint(x, y, n, seed).sub(p)
		if d := near[i].dot(near[i]); d < best {
			own, best = i, d
			c.tone = chance(wrap(x, n), wrap(y, n), seed+2)
		}
	}
	c.centre, c.edge = math.Sqrt(best), math.Inf(1)
	for i, q := range near {
		if i == own {
			continue
		}
		across := q.sub(near[own])
		across = across.scale(1 / math.Sqrt(across.dot(across)))
		if d := near[own].add(q).scale(0.5).dot(across); d < c.edge {
			c.edge, c.out = d, across
		}
	}
	return c
}

// sitePoint is the jittered point of lattice cell (x, y) in lattice coordinates. Jitter stays within 80 % of the cell:
// more makes slivers.
func sitePoint(x, y, n int, seed uint32) vec {
	wx, wy := wrap(x, n), wrap(y, n)
	return vec{float64(x) + 0.1 + 0.8*chance(wx, wy, seed), float64(y) + 0.1 + 0.8*chance(wx, wy, seed+1)}
}

// contour is the distance, in tiles, to the nearest line along which a smooth noise field is zero: long winding
// lines that never end in a corner.
func contour(u vec, cells int, seed uint32) float64 {
	const h = 1.0 / 1024
	v := gradient(u, cells, seed)
	dx := (gradient(u.add(vec{h, 0}), cells, seed) - v) / h
	dy := (gradient(u.add(vec{0, h}), cells, seed) - v) / h
	return math.Abs(v) / (math.Sqrt(dx*dx+dy*dy) + 0.5*float64(cells))
}
