package game

import (
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

// Where the lanes of the flow lead: to the player, and to both sides of it, from where those come
// that would cut it off.
const (
	laneDirect = iota
	laneLeft
	laneRight
)

const (
	flankAhead = 190.0
	flankSide  = 330.0
	flankReach = 470.0 // nearer than that all come straight
)

// hunter is the game as its flow sees it.
type hunter Game

// Goal returns the node that a lane leads to.
func (h *hunter) Goal(lane int) int32 {
	g := (*Game)(h)
	p := &g.Player
	if lane == laneDirect {
		return g.Realm.Node(p.P)
	}
	dir := unit(p.V)
	if dir == (vec{}) {
		dir = p.Aim
	}
	side := float32(flankSide)
	if lane == laneLeft {
		side = -side
	}
	at := engine.MulAdd(engine.MulAdd(p.P, dir, flankAhead), engine.Perp(dir), side)
	return g.Realm.Node(vec{clamp(at[0], 1, worldSide-1), clamp(at[1], 1, worldSide-1)})
}

// Count adds the number of enemies in each node of the window at (x0, y0) to an element of into, row by row. A sum is
// at most 255.
func (h *hunter) Count(x0, y0 int32, into []uint8) {
	g := (*Game)(h)
	for _, c := range g.cast.enemyFilter.Chunks() {
		for i := range c.A {
			p := c.A[i].P
			x, y := uint(int32(p[0])/realm.CoarseSize-x0), uint(int32(p[1])/realm.CoarseSize-y0)
			if x < realm.Window && y < realm.Window {
				if n := &into[y*realm.Window+x]; *n < 255 {
					*n++
				}
			}
		}
	}
}

// find keeps the fields that lead to the player up to date.
func (h *horde) find(g *Game) error {
	if h.flow == nil {
		return nil
	}
	_, err := h.flow.Update(g.age(), g.Realm, (*hunter)(g))
	if err != nil {
		g.Lost.Fields++
	}
	return tolerate(err)
}

// laneOf returns which way somebody of the horde comes: of eight, one from either side.
func laneOf(e *Enemy) int {
	if e.Post != postHorde || e.Kind == realm.Warden {
		return laneDirect
	}
	switch e.Phase & 7 {
	case 1:
		return laneLeft
	case 2:
		return laneRight
	}
	return laneDirect
}

// path returns the direction of the fields at p, at an offset from the player; 0 if there is none.
func (w *walk) path(p, to vec, e *Enemy) uint8 {
	if k := laneOf(e); k != laneDirect && w.fields[k] != nil && engine.LengthSquared(to) > flankReach*flankReach {
		if d := w.fields[k].At(p); d != 0 {
			return d
		}
	}
	if w.fields[laneDirect] == nil {
		return 0
	}
	return w.fields[laneDirect].At(p)
}
