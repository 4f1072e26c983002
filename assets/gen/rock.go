package main

// Rock is where a realm's walls may be, before anything is dug. All of it is whole numbers: walls are rules of the
// game, and must be the same on every processor.

// one is 1 in the fixed point of this file.
const one = 1 << 12

// slopes are sixteen directions, in fixed point.
var slopes = [16][2]int{
	{4096, 0}, {3784, 1567}, {2896, 2896}, {1567, 3784}, {0, 4096}, {-1567, 3784}, {-2896, 2896}, {-3784, 1567},
	{-4096, 0}, {-3784, -1567}, {-2896, -2896}, {-1567, -3784}, {0, -4096}, {1567, -3784}, {2896, -2896}, {3784, -1567},
}

// relief is smooth noise in about [-one, one] with hills of size cells.
func relief(x, y, size int, seed uint32) int {
	x, y = x+size*64, y+size*64 // warped points may lie a little outside
	ix, iy := x/size, y/size
	fx, fy := (x%size)*one/size, (y%size)*one/size
	corner := func(dx, dy int) int {
		g := slopes[hash(ix+dx, iy+dy, seed)>>28]
		return (g[0]*(fx-dx*one) + g[1]*(fy-dy*one)) / one
	}
	sx, sy := bend(fx), bend(fy)
	top := corner(0, 0) + (corner(1, 0)-corner(0, 0))*sx/one
	low := corner(0, 1) + (corner(1, 1)-corner(0, 1))*sx/one
	return (top + (low-top)*sy/one) * 3 / 2
}

// bend is ease in fixed point.
func bend(t int) int {
	cube := t * t / one * t / one
	return cube * (t*(t*6-15*one)/one + 10*one) / one
}

// A hall is what a cell of emberRock knows of the jittered points around it.
type hall struct {
	edge, along int    // cells to the border with the nearest other hall, and along it from the middle
	pair        uint32 // the same on both sides of the border
}

// hallAt finds the border next to a cell in a diagram of points every size cells.
func hallAt(x, y, size int, seed uint32) hall {
	ix, iy := (x+size*8)/size-8, (y+size*8)/size-8
	type site struct{ x, y, d, key int }
	var near [25]site
	own := 0
	for i := range near {
		sx, sy := ix+i%5-2, iy+i/5-2
		h := hash(sx, sy, seed)
		px, py := sx*size+size/8+int(h&0xffff)*(size*3/4)>>16, sy*size+size/8+int(h>>16)*(size*3/4)>>16
		near[i] = site{px - x, py - y, (px-x)*(px-x) + (py-y)*(py-y), int(hash(sx, sy, seed+1) >> 8)}
		if near[i].d < near[own].d {
			own = i
		}
	}
	best := hall{edge: 1 << 20}
	for i, s := range near {
		if i == own {
			continue
		}
		ax, ay := s.x-near[own].x, s.y-near[own].y
		length := root(ax*ax + ay*ay)
		mx, my := s.x+near[own].x, s.y+near[own].y // twice the middle of the border
		if edge := (mx*ax + my*ay) / (2 * length); edge < best.edge {
			best.edge, best.along = edge, abs(mx*ay-my*ax)/(2*length)
			best.pair = hash(min(s.key, near[own].key), max(s.key, near[own].key), seed+2)
		}
	}
	return best
}

func abs(v int) int { return max(v, -v) }

// root is the whole part of the square root, at least 1.
func root(v int) int {
	r := 1
	for r*r <= v {
		r *= 2
	}
	for step := r / 2; step > 0; step /= 2 {
		if (r-step)*(r-step) > v {
			r -= step
		}
	}
	return max(r-1, 1)
}
