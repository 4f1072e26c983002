package game

import (
	"iter"
	"unsafe"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
)

// A grid finds enemies by place, in a square about the player: beyond it nobody is hit and nobody
// jostles. It is built at the beginning of each tick, by counting sort in the frame arena, from where
// the enemies are then, and is of no use after it: no tick reads what another one left there.
//
//	begin: | 0 | 3 | 3 | 7 ...   begin[c] to begin[c+1] are cell c's entries
//	at:    | a b c | d e f g | ...     where each is
//	who:   | a b c | d e f g | ...     and who
type grid struct {
	spots  []spot
	grows  bool    // lists of hits do, from nil
	begin  []int32 // empty where there was no room
	at     []vec
	who    []cell
	crowds []crowd // one a cell, filled in for those that somebody is in; nil if there was no space
	x0, y0 float32
	bosses [8]ecs.Entity // the wardens in the square, noted as they move
	bossN  int
}

// A cell is one enemy in the grid.
type cell struct {
	Radius float32
	E      ecs.Entity
}

var (
	cellType  = memory.MustType[cell]()
	spotType  = memory.MustType[spot]()
	vecType   = memory.MustType[vec]()
	countType = memory.MustType[int32]()
	crowdType = memory.MustType[crowd]()
)

const (
	cellSide  = 16                      // units: one small enemy's
	gridCells = 128                     // in a row, and rows of them
	gridSide  = gridCells * cellSide    // units: three screens' width
	widest    = 12                      // the radius of the largest that is found by cell; wardens are few
	gridRoom  = gridCells*gridCells + 2 // of begin: shifted by two while counting
)

// A spot says where an enemy of the grid is in the columns: the chunk, the row, and its cell.
type spot struct {
	row   int32
	chunk uint16
	cell  uint16
}

// start makes space for counting. Without space in the frame arena there is no grid: shots pass through all but wardens,
// enemies do not jostle, and Lost counts it.
func (gr *grid) start(g *Game) {
	*gr = grid{}
	gr.x0, gr.y0 = corner(g.Player.P[0]), corner(g.Player.P[1])
	gr.grows = g.store.grows()
	s := &g.store
	begin, err := scratchZero(s, countType, &s.kept.begin, gridRoom)
	if err == nil {
		gr.spots, err = scratch(s, spotType, &s.kept.spots, g.cast.enemyFilter.Len())
	}
	if err != nil {
		g.Lost.Grids++
		return
	}
	gr.begin, gr.spots = begin, gr.spots[:0]
}

func corner(v float32) float32 { return float32((int(v)/cellSide - gridCells/2) * cellSide) }

// sort places those that were counted. If the frame arena has no space for all of them, those about the player are
// placed, and those far away are not hit. If it has no space for the crowds enemies do not jostle.
func (gr *grid) sort(g *Game) {
	s := &g.store
	n, reach := len(gr.spots), gridCells/2
	if most := s.entries(spotBytes); n > most {
		g.Lost.Grids++
		n, reach = gr.shrink(most)
	}
	at, err := scratch(s, vecType, &s.kept.at, n)
	if err == nil {
		gr.who, err = scratch(s, cellType, &s.kept.who, n)
	}
	if err != nil {
		gr.begin, gr.who = nil, nil
		g.Lost.Grids++
		return
	}
	gr.at = at
	if s.entries(unsafe.Sizeof(crowd{})) < gridCells*gridCells {
		g.Lost.Crowds++
	} else if gr.crowds, err = scratchZero(s, crowdType, &s.kept.crowds, gridCells*gridCells); err != nil {
		gr.crowds = nil
		g.Lost.Crowds++
	}
	begin := gr.begin
	for i := 2; i < len(begin); i++ {
		begin[i] += begin[i-1]
	}
	for _, s := range gr.spots {
		if !within(int(s.cell), reach) {
			continue
		}
		c := &g.horde.columns[s.chunk]
		j := begin[s.cell+1]
		at[j], gr.who[j] = c.ps[s.row].P, cell{Radius: breeds[c.ks[s.row].Kind].radius, E: c.es[s.row]}
		begin[s.cell+1] = j + 1
	}
}

// spotBytes is what an entry of the grid takes in at and who.
const spotBytes = unsafe.Sizeof(vec{}) + unsafe.Sizeof(cell{})

// within reports whether a cell is among those that lie less than reach cells from the middle along each axis.
func within(k, reach int) bool {
	x, y := k%gridCells-gridCells/2, k/gridCells-gridCells/2
	return x >= -reach && x < reach && y >= -reach && y < reach
}

// shrink empties the cells about the edge until at most so many enemies are left. It returns their number, and how far
// the cells with enemies reach from the middle.
func (gr *grid) shrink(most int) (n, reach int) {
	for ; reach < gridCells/2; reach++ {
		more := 0
		gr.ring(reach, func(k int) { more += int(gr.begin[k+2]) })
		if n+more > most {
			break
		}
		n += more
	}
	for r := reach; r < gridCells/2; r++ {
		gr.ring(r, func(k int) { gr.begin[k+2] = 0 })
	}
	return n, reach
}

// ring calls f with the cells that are within r+1 and not within r.
func (gr *grid) ring(r int, f func(k int)) {
	const m = gridCells / 2
	for i := -r - 1; i <= r; i++ {
		f((m-r-1)*gridCells + m + i)
		f((m+r)*gridCells + m + i)
		if i >= -r && i < r {
			f((m+i)*gridCells + m - r - 1)
			f((m+i)*gridCells + m + r)
		}
	}
}

// cellOf returns the cell of a place, or -1 beyond the square.
func (gr *grid) cellOf(p vec) int {
	x, y := p[0]-gr.x0, p[1]-gr.y0
	if !(x >= 0 && y >= 0 && x < gridSide && y < gridSide) {
		return -1
	}
	return int(y)/cellSide*gridCells + int(x)/cellSide
}

// rows returns the cells that a square about p touches: columns x0 to x1 of rows y0 to y1.
func (gr *grid) rows(p vec, reach float32) (x0, x1, y0, y1 int) {
	return gr.span(vec{p[0] - reach, p[1] - reach}, vec{p[0] + reach, p[1] + reach})
}

// span is rows for a rectangle between two corners.
func (gr *grid) span(a, b vec) (x0, x1, y0, y1 int) {
	at := func(v float32) int { return min(max(int(v)/cellSide, 0), gridCells-1) }
	return at(a[0] - gr.x0), at(b[0] - gr.x0), at(a[1] - gr.y0), at(b[1] - gr.y0)
}

// touch returns an enemy that a disc touches: of several in range the first in the grid's order.
func (gr *grid) touch(p vec, radius float32) (found ecs.Entity, ok bool) {
	if gr.begin == nil {
		return found, false
	}
	x0, x1, y0, y1 := gr.rows(p, widest+radius)
	for y := y0; y <= y1; y++ {
		row := y * gridCells
		for i := gr.begin[row+x0]; i < gr.begin[row+x1+1]; i++ {
			reach := gr.who[i].Radius + radius
			if d := p.Sub(gr.at[i]); engine.LengthSquared(d) < mul(reach, reach) {
				return gr.who[i].E, true
			}
		}
	}
	return found, false
}

// about iterates over those whose middle is within reach of p.
func (gr *grid) about(p vec, reach float32) iter.Seq2[ecs.Entity, vec] {
	return func(yield func(ecs.Entity, vec) bool) {
		if gr.begin == nil {
			return
		}
		x0, x1, y0, y1 := gr.rows(p, reach)
		for y := y0; y <= y1; y++ {
			row := y * gridCells
			for i := gr.begin[row+x0]; i < gr.begin[row+x1+1]; i++ {
				if engine.LengthSquared(p.Sub(gr.at[i])) < mul(reach, reach) && !yield(gr.who[i].E, gr.at[i]) {
					return
				}
			}
		}
	}
}

// A crowd is what those in a cell do to each other: down the slope of the crowd about it all are pushed
// alike, and each away from their middle.
type crowd struct {
	slope, middle vec
	press         float32 // of those in the cell
	known         bool
}

// most returns how many hits a list takes that has none yet: as many as it has room for, or, where it has
// no room of its own and grows, maxHits.
func (gr *grid) most(hits []hit) int {
	if gr.grows && cap(hits) == 0 {
		return maxHits
	}
	return cap(hits)
}

// pressMost bounds how many of its own cell an enemy is pushed by.
const pressMost = 4

// measure fills in a cell's crowd; one at the grid's edge is pushed by nobody.
func (gr *grid) measure(k int, c *crowd) {
	c.known = true
	if k < gridCells || k >= gridCells*(gridCells-1) {
		return
	}
	b := gr.begin
	from, to := b[k], b[k+1]
	right, left := b[k+2]-to, from-b[k-1]
	down, up := b[k+gridCells+1]-b[k+gridCells], b[k-gridCells+1]-b[k-gridCells]
	c.slope = vec{float32(left-right) * 7, float32(up-down) * 7}
	if to-from < 2 {
		return
	}
	var sum vec
	for _, p := range gr.at[from:to] {
		sum[0] += p[0]
		sum[1] += p[1]
	}
	c.middle = engine.Scale(sum, 1/float32(to-from))
	c.press = 30 * float32(min(to-from-1, pressMost))
}

// jostle returns the push, in units a second, on somebody at p in cell k.
func (gr *grid) jostle(k int, p vec) (push vec) {
	if gr.crowds == nil {
		return push
	}
	c := &gr.crowds[k]
	if !c.known {
		gr.measure(k, c)
	}
	push = c.slope
	if c.press > 0 {
		d := p.Sub(c.middle)
		push = engine.MulAdd(push, d, c.press/(engine.LengthSquared(d)+1))
	}
	push[0], push[1] = clamp(push[0], -110, 110), clamp(push[1], -110, 110)
	return push
}

// A doom is an enemy that is to go at the end of the tick.
type doom struct {
	e    ecs.Entity
	fade bool // it was left behind: nobody killed it
}

// doomed are those of a tick, in the frame arena.
type doomed struct {
	list []doom
	most int
}

var doomType = memory.MustType[doom]()

const doomMost = 4096

func (d *doomed) begin(g *Game) {
	list, err := scratchList(&g.store, doomType, &g.store.kept.doom, doomMost)
	if *d = (doomed{list, doomMost}); err != nil {
		d.most = 0
		g.Lost.Hits++
	}
}

// add notes one; where there is no room it lives on, and is found again in the next tick.
func (d *doomed) add(e ecs.Entity, fade bool) {
	if len(d.list) < d.most {
		d.list = append(d.list, doom{e, fade})
	}
}

// bossAt finds a warden, for which cells are too small; there is hardly ever more than one.
func (gr *grid) bossAt(g *Game, p vec, radius float32) (ecs.Entity, bool) {
	if g.toll[realm.Warden] == 0 {
		return ecs.Entity{}, false
	}
	for _, b := range gr.bosses[:gr.bossN] {
		reach := breeds[realm.Warden].radius + radius
		if pos, _, _, ok := g.cast.enemies.Get(b); ok && engine.LengthSquared(p.Sub(pos.P)) < mul(reach, reach) {
			return b, true
		}
	}
	return ecs.Entity{}, false
}

// list starts a list of hits, or of fewer if the frame arena is full.
func (gr *grid) list(g *Game) []hit {
	for n := maxHits; n > 0; n /= 2 {
		if hits, err := scratchList(&g.store, hitType, &g.store.kept.hits, n); err == nil {
			return hits
		}
		g.Lost.Hits++
	}
	return nil
}
