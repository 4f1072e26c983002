package game

import (
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tiers"
)

// Soot is the darkness that fights have left on the ground. It stays until the realm ends. It is one block of the large
// tier for the whole realm, and takes at most half of the tier's budget. A cell is one byte. The side of a cell is the
// smallest of 4, 8, 16, 32 and 64 units with which the block fits. Soot is only drawn: no rule reads it, and the hash
// excludes it.
type Soot struct {
	Cells []uint8 // row by row, 0 clean to 255 black; nil if there was no space
	Side  int     // columns of cells, and rows
	Unit  int     // side of a cell in units

	a     memory.Allocator
	short bool // the cells are coarser than the reservation allows, or missing
}

// sootUnit is the side of the finest cells.
const sootUnit = 4

// begin takes the block, clean.
func (s *Soot) begin(g *Game) {
	s.reset()
	s.short = true
	var snap tiers.Snapshot
	g.store.m.Snapshot(&snap)
	large := &snap.Tiers[tiers.Large]
	for unit := sootUnit; unit <= 64; unit *= 2 {
		side := realm.World / unit
		if uint64(side*side) > large.Budget/2 {
			continue
		}
		if cells, err := memory.MakeSlice[uint8](s.a, side*side); err == nil {
			s.Cells, s.Side, s.Unit = cells, side, unit
			if s.short = unit > sootUnit && large.Budget < large.Reserved; s.short { // a small reservation, as in a browser, is no shortage
				g.Lost.Soot++
			}
			return
		}
	}
	g.Lost.Soot++
}

func (s *Soot) reset() {
	if s.Cells != nil {
		memory.FreeSlice(s.a, s.Cells)
	}
	s.Cells, s.Side, s.Unit = nil, 0, 0
}

// add darkens a disc, softly.
func (s *Soot) add(at vec, radius float32) {
	if s.Cells == nil {
		return
	}
	cx, cy, r := int(at[0])/s.Unit, int(at[1])/s.Unit, int(radius)/s.Unit+1
	for y := max(cy-r, 0); y <= min(cy+r, s.Side-1); y++ {
		for x := max(cx-r, 0); x <= min(cx+r, s.Side-1); x++ {
			d := (x-cx)*(x-cx) + (y-cy)*(y-cy)
			if dark := 40 - 40*d/(r*r+1); dark > 0 {
				c := &s.Cells[y*s.Side+x]
				*c = uint8(min(255, int(*c)+dark))
			}
		}
	}
}

// Soot returns the darkness that fights have left on the ground. It is valid until the next tick, the load of a state
// or [Game.End].
func (g *Game) Soot() *Soot { return &g.soot }
