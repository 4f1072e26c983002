package newcomer

import "math"

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// A ground is the squares of the screen, and what the player sees of each.
type ground struct {
	side       float32 // pixels
	cols, rows int
	solid      []bool
	from       []int32 // of the path; -1 is none
	cost       []float32
	queue      []int32
}

// see finds the walls: dark opaque squares of the lowest batch.
func (g *ground) see(f *Frame, side float32) {
	g.side, g.cols, g.rows = side, int(f.W/side), int(f.H/side)
	n := g.cols * g.rows
	if len(g.solid) != n {
		g.solid, g.from, g.cost = make([]bool, n), make([]int32, n), make([]float32, n)
	}
	clear(g.solid)
	for i := range f.Sprites {
		s := &f.Sprites[i]
		if s.Name != "fill" || s.Batch != 0 || s.Colour.A < 0.99 || s.H < 0.8*side {
			continue
		}
		const margin = 0.8 // of a square: the ship is not a point
		x0, x1 := g.cell(s.X-s.W/2-margin*side), g.cell(s.X+s.W/2+margin*side)
		y0, y1 := g.cell(s.Y-s.H/2-margin*side), g.cell(s.Y+s.H/2+margin*side)
		for y := max(y0, 0); y <= min(y1, g.rows-1); y++ {
			for x := max(x0, 0); x <= min(x1, g.cols-1); x++ {
				g.solid[y*g.cols+x] = true
			}
		}
	}
}

func (g *ground) cell(x float32) int { return int(math.Floor(float64(x / g.side))) }

// wall reports whether there is one at a place.
func (g *ground) wall(p vec) bool {
	x, y := g.cell(p[0]), g.cell(p[1])
	return x >= 0 && y >= 0 && x < g.cols && y < g.rows && g.solid[y*g.cols+x]
}

// reach searches all squares that can be reached from a place.
func (g *ground) reach(at vec) (start int32) {
	x, y := min(max(g.cell(at[0]), 0), g.cols-1), min(max(g.cell(at[1]), 0), g.rows-1)
	start = int32(y*g.cols + x)
	for i := range g.from {
		g.from[i] = -1
	}
	g.from[start], g.cost[start] = start, 0
	g.queue = append(g.queue[:0], start)
	for head := 0; head < len(g.queue); head++ {
		c := g.queue[head]
		cx, cy := int(c)%g.cols, int(c)/g.cols
		for dy := -1; dy <= 1; dy++ {
			for dx := -1; dx <= 1; dx++ {
				x, y := cx+dx, cy+dy
				if x < 0 || y < 0 || x >= g.cols || y >= g.rows {
					continue
				}
				n := int32(y*g.cols + x)
				if g.from[n] >= 0 || g.solid[n] || dx != 0 && dy != 0 && (g.solid[cy*g.cols+x] || g.solid[y*g.cols+cx]) {
					continue
				}
				g.from[n], g.cost[n] = c, g.cost[c]+sqrt(float32(dx*dx+dy*dy))
				g.queue = append(g.queue, n)
			}
		}
	}
	return start
}

// toward returns the direction of the first steps of a path that leads as far as possible in a direction.
func (g *ground) toward(at, dir vec) vec {
	start := g.reach(at)
	best, most := start, float32(-1e9)
	for i, from := range g.from {
		if from < 0 {
			continue
		}
		to := vec{(float32(i%g.cols) + 0.5) * g.side, (float32(i/g.cols) + 0.5) * g.side}.sub(at)
		along := to.dot(dir) / g.side
		aside := to.dot(dir.turned()) / g.side
		if score := along - 0.3*g.cost[i] - 0.15*max(aside, -aside); score > most {
			best, most = int32(i), score
		}
	}
	return g.step(at, start, best)
}

// to returns the direction of the first steps of a path to a place, or straight ahead if there is none.
func (g *ground) to(at, goal vec) vec {
	start := g.reach(at)
	x, y := g.cell(goal[0]), g.cell(goal[1])
	if x < 0 || y < 0 || x >= g.cols || y >= g.rows || g.from[y*g.cols+x] < 0 {
		return goal.sub(at).unit()
	}
	return g.step(at, start, int32(y*g.cols+x))
}

// step follows a path back to its fifth square.
func (g *ground) step(at vec, start, end int32) vec {
	if start == end {
		return vec{}
	}
	var last [5]int32
	n := 0
	for c := end; c != start; c = g.from[c] {
		last[n%len(last)] = c
		n++
	}
	c := last[(n-min(n, len(last)))%len(last)]
	return vec{(float32(int(c)%g.cols) + 0.5) * g.side, (float32(int(c)/g.cols) + 0.5) * g.side}.sub(at).unit()
}
