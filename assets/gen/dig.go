package main

// Digging turns rock into ground on which the game can be played. There are open discs around the places, no passage
// is narrower than a horde needs, no splinter of rock is left, and all open ground is connected.

const (
	passage  = 6 // half of the narrowest passage, in cells
	splinter = 3 // half of the thinnest wall
	rim      = 4 // solid cells around the world
	tunnel   = 9 // half of a tunnel's width
)

// A mask has a byte a cell: 1 is solid.
type mask []uint8

// dig makes a realm's ground.
func dig(r *realm) mask {
	g := make(mask, realmCells*realmCells)
	for y := range realmCells {
		for x := range realmCells {
			edge := min(x, y, realmCells-1-x, realmCells-1-y)
			if edge < rim+6+relief(x, y, 30, 5)*7/one || r.solid(x, y) {
				g[y*realmCells+x] = 1
			}
		}
	}
	places := r.places()
	for _, p := range places {
		g.clear(p.x, p.y, p.room)
	}
	g.drop(1, splinter)
	g.drop(0, passage)
	piece := g.pieces()
	for _, p := range places[1:] {
		if piece[p.y*realmCells+p.x] != piece[places[0].y*realmCells+places[0].x] {
			g.tunnel(p.x, p.y, places[0].x, places[0].y)
		}
	}
	piece = g.pieces()
	heart := piece[places[0].y*realmCells+places[0].x]
	for i := range g {
		x, y := i%realmCells, i/realmCells
		if piece[i] != heart || min(x, y, realmCells-1-x, realmCells-1-y) < rim {
			g[i] = 1
		}
	}
	return g
}

// clear opens a disc.
func (g mask) clear(cx, cy, room int) {
	for y := cy - room; y <= cy+room; y++ {
		for x := cx - room; x <= cx+room; x++ {
			if (x-cx)*(x-cx)+(y-cy)*(y-cy) <= room*room {
				g[y*realmCells+x] = 0
			}
		}
	}
}

// tunnel opens a winding way between two cells.
func (g mask) tunnel(x0, y0, x1, y1 int) {
	n := max(abs(x1-x0), abs(y1-y0))
	for i := range n {
		x, y := x0+(x1-x0)*i/n, y0+(y1-y0)*i/n
		fade := min(i, n-i, 40)
		x, y = x+relief(x, y, 60, 6)*fade/one, y+relief(x, y, 60, 7)*fade/one
		g.clear(x, y, tunnel)
	}
}

// drop removes the parts of one kind, rock or open ground, into which no disc of a radius fits. It is a
// morphological opening by two exact distance transforms.
func (g mask) drop(kind uint8, radius int) {
	d := g.squares(func(i int) bool { return g[i] != kind })
	near := g.squares(func(i int) bool { return d[i] > int32(radius*radius) })
	for i := range g {
		if g[i] == kind && near[i] > int32(radius*radius) {
			g[i] = 1 - kind
		}
	}
}

// squares returns the squared distance of each cell to the nearest that is in a set (Meijster, Roerdink, Hesselink, "A
// general algorithm for computing distance transforms in linear time", 2000).
func (g mask) squares(in func(i int) bool) []int32 {
	const n, far = realmCells, 4 * realmCells
	down := make([]int32, n*n)
	for x := range n {
		run := int32(far)
		for y := range n {
			run = min(run+1, far)
			if in(y*n + x) {
				run = 0
			}
			down[y*n+x] = run
		}
		for y := n - 2; y >= 0; y-- {
			down[y*n+x] = min(down[y*n+x], down[y*n+n+x]+1)
		}
	}
	out := make([]int32, n*n)
	var s, t [n]int
	for y := range n {
		row := down[y*n:][:n]
		f := func(x, i int) int { return (x-i)*(x-i) + int(row[i])*int(row[i]) }
		q := 0
		s[0], t[0] = 0, 0
		for u := 1; u < n; u++ {
			for q >= 0 && f(t[q], s[q]) > f(t[q], u) {
				q--
			}
			if q < 0 {
				q, s[0] = 0, u
				continue
			}
			i := s[q]
			num := u*u - i*i + int(row[u])*int(row[u]) - int(row[i])*int(row[i])
			w := 1 + floorDiv(num, 2*(u-i))
			if w < n {
				q++
				s[q], t[q] = u, w
			}
		}
		for u := n - 1; u >= 0; u-- {
			out[y*n+u] = int32(f(u, s[q]))
			if u == t[q] {
				q--
			}
		}
	}
	return out
}

func floorDiv(a, b int) int {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}

// pieces numbers the connected pieces of open ground, from 1.
func (g mask) pieces() []int32 {
	piece := make([]int32, len(g))
	var todo []int
	next := int32(0)
	for i := range g {
		if g[i] != 0 || piece[i] != 0 {
			continue
		}
		next++
		piece[i] = next
		todo = append(todo[:0], i)
		for len(todo) > 0 {
			c := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for _, d := range [4]int{1, -1, realmCells, -realmCells} { // the rim is solid: no row wraps
				if k := c + d; g[k] == 0 && piece[k] == 0 {
					piece[k] = next
					todo = append(todo, k)
				}
			}
		}
	}
	return piece
}

// pack returns the realm's NAME.walls.
func (g mask) pack() []byte {
	out := make([]byte, len(wallsMagic)+len(g)/8)
	copy(out, wallsMagic)
	for i, v := range g {
		out[len(wallsMagic)+i/8] |= v << (i & 7)
	}
	return out
}
