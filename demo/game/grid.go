package game

import (
	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
)

// A grid finds enemies by place. It is built anew each tick in the frame arena, by counting
// sort, and the next tick's steering still reads it: that is what the second frame buffer is for.
//
//	begin: | 0 | 3 | 3 | 7 ...   begin[c] to begin[c+1] are cell c's entries
//	cells: | a b c | d e f g | ...
type grid struct {
	begin      []int32
	cells      []cell
	cols, rows int
	frame      uint64 // of the manager, when it was built, plus 1; 0 for none
}

// A cell is one enemy in the grid.
type cell struct {
	P, V   vec
	Radius float32
	E      ecs.Entity
}

var (
	cellType  = memory.MustType[cell]()
	countType = memory.MustType[int32]()
)

// cellSide is the side of a cell in logical units: a little more than the reach of a query.
const cellSide = 40

func (gr *grid) forget() { *gr = grid{} }

// refresh makes sure that there is a grid of where the enemies are. After frames without a
// tick (a pause, a load) the last one has expired.
func (gr *grid) refresh(g *Game) {
	if gr.frame != 0 && g.mem.Frames().Frame()+1-gr.frame < uint64(g.mem.Frames().Buffers()) {
		return
	}
	if err := gr.build(g); err != nil {
		g.Lost.Grids++
	}
}

// build sorts the enemies into cells. On error there is no grid.
func (gr *grid) build(g *Game) (err error) {
	gr.forget()
	f := g.mem.Frame()
	cols, rows := int(g.Level.Arena.Width)/cellSide+1, int(g.Level.Arena.Height)/cellSide+1
	n := g.actors.enemyFilter.Len()
	begin, err := arena.MakeSlice(f, countType, cols*rows+2)
	if err != nil {
		return err
	}
	cells, err := arena.MakeSliceUninit(f, cellType, n)
	if err != nil {
		return err
	}
	gr.begin, gr.cells, gr.cols, gr.rows = begin, cells, cols, rows
	gr.frame = g.mem.Frames().Frame() + 1

	// begin is shifted by two while counting, so that placing leaves it right.
	for _, c := range g.actors.enemyFilter.Chunks() {
		for i := range c.A {
			begin[gr.cellOf(c.A[i].P)+2]++
		}
	}
	for i := 2; i < len(begin); i++ {
		begin[i] += begin[i-1]
	}
	for es, columns := range g.actors.enemyFilter.Chunks() {
		ps, vs, ks := columns.A, columns.B, columns.C
		for i := range ps {
			c := gr.cellOf(ps[i].P) + 1
			cells[begin[c]] = cell{P: ps[i].P, V: vs[i].V, Radius: breeds[ks[i].Kind].radius, E: es[i]}
			begin[c]++
		}
	}
	return nil
}

func (gr *grid) cellOf(p vec) int {
	x := min(max(int(p[0])/cellSide, 0), gr.cols-1)
	y := min(max(int(p[1])/cellSide, 0), gr.rows-1)
	return y*gr.cols + x
}

// around calls f with the entries of each row of cells that a square about p touches.
func (gr *grid) around(p vec, reach float32, f func([]cell) bool) {
	if gr.frame == 0 {
		return
	}
	x0 := min(max(int(p[0]-reach)/cellSide, 0), gr.cols-1)
	x1 := min(max(int(p[0]+reach)/cellSide, 0), gr.cols-1)
	y0 := min(max(int(p[1]-reach)/cellSide, 0), gr.rows-1)
	y1 := min(max(int(p[1]+reach)/cellSide, 0), gr.rows-1)
	for y := y0; y <= y1; y++ {
		row := y * gr.cols
		if !f(gr.cells[gr.begin[row+x0]:gr.begin[row+x1+1]]) {
			return
		}
	}
}

// at returns an enemy that a disc touches.
func (gr *grid) at(p vec, radius float32) (found ecs.Entity, ok bool) {
	gr.around(p, 30+radius, func(cells []cell) bool {
		for i := range cells {
			c := &cells[i]
			reach := c.Radius + radius
			if d := p.Sub(c.P); engine.LengthSquared(d) < mul(reach, reach) {
				found, ok = c.E, true
				return false
			}
		}
		return true
	})
	return found, ok
}

// flockMost bounds how many neighbours one enemy looks at.
const flockMost = 24

// neighbours counts those within reach, and returns the push away from them, stronger the
// nearer they are, and the sum of their velocities.
func (gr *grid) neighbours(self ecs.Entity, p vec, reach float32) (n int, apart, heading vec) {
	gr.around(p, reach, func(cells []cell) bool {
		for i := range cells {
			c := &cells[i]
			d := p.Sub(c.P)
			sq := engine.LengthSquared(d)
			if c.E == self || sq >= mul(reach, reach) || sq == 0 {
				continue
			}
			apart = engine.MulAdd(apart, d, 1/(sq+4)*mul(reach, 0.3))
			heading = heading.Add(c.V)
			if n++; n == flockMost {
				return false
			}
		}
		return true
	})
	return n, apart, heading
}
