package game

import (
	"unsafe"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
)

// The grid of the scorched ground. The ground glows where an enemy has died or a mine went off, and cools. Each sector
// has a block of its own. It is allocated when the sector burns near the player, and freed when the sector is cold or
// the player is far away.
const (
	ScorchCell  = 8                             // side of a cell in units
	ScorchCells = realm.SectorSize / ScorchCell // columns of cells in a sector, and rows
	scorchBytes = ScorchCells * ScorchCells
	scorchFar   = 2 // sectors from the player's, along an axis
)

type scorches struct {
	a   memory.Allocator
	all [realm.Sectors * realm.Sectors]*[scorchBytes]uint8
}

func sector(v float32) int { return min(max(int(v)/realm.SectorSize, 0), realm.Sectors-1) }

// burn heats a disc, and leaves soot.
func (s *scorches) burn(g *Game, at vec, radius float32) {
	g.soot.add(at, radius*0.7)
	cx, cy, r := int(at[0])/ScorchCell, int(at[1])/ScorchCell, int(radius)/ScorchCell+1
	for y := max(cy-r, 0); y <= min(cy+r, realm.Sectors*ScorchCells-1); y++ {
		for x := max(cx-r, 0); x <= min(cx+r, realm.Sectors*ScorchCells-1); x++ {
			d := (x-cx)*(x-cx) + (y-cy)*(y-cy)
			heat := 200 - 200*d/(r*r+1)
			if heat <= 0 {
				continue
			}
			block := s.block(g, x/ScorchCells, y/ScorchCells)
			if block == nil {
				return
			}
			c := &block[y%ScorchCells*ScorchCells+x%ScorchCells]
			*c = uint8(min(255, int(*c)+heat))
		}
	}
}

// block returns a sector's block, made if it must be, or nil: it is far away, or there is no room.
func (s *scorches) block(g *Game, x, y int) *[scorchBytes]uint8 {
	i := y*realm.Sectors + x
	if s.all[i] != nil {
		return s.all[i]
	}
	if away(x, sector(g.Player.P[0])) || away(y, sector(g.Player.P[1])) {
		return nil
	}
	p, err := s.a.Alloc(scorchBytes, 64)
	if err != nil {
		g.Lost.Scorch++
		return nil
	}
	s.all[i] = (*[scorchBytes]uint8)(p)
	clear(s.all[i][:])
	return s.all[i]
}

func away(a, b int) bool { return max(a-b, b-a) > scorchFar }

func (s *scorches) free(i int) {
	s.a.Free(unsafe.Pointer(s.all[i]), scorchBytes)
	s.all[i] = nil
}

// update cools a row of sectors a tick, and frees those that are cold or far away.
func (s *scorches) update(g *Game) {
	y := g.cooled
	g.cooled = (y + 1) % realm.Sectors
	px, py := sector(g.Player.P[0]), sector(g.Player.P[1])
	for x := range realm.Sectors {
		i := y*realm.Sectors + x
		if s.all[i] == nil {
			continue
		}
		if away(x, px) || away(y, py) || !cool(s.all[i]) {
			s.free(i)
		}
	}
}

// cool cools a block, and reports whether there is warmth left.
func cool(block *[scorchBytes]uint8) bool {
	sum := uint8(0)
	for i, h := range block {
		h -= h/12 + min(h, 2)
		block[i] = h
		sum |= h
	}
	return sum != 0
}

func (s *scorches) reset() {
	for i := range s.all {
		if s.all[i] != nil {
			s.free(i)
		}
	}
}

func (s *scorches) hash(h *engine.Hasher) {
	for i, block := range s.all {
		if block != nil {
			h.Int(i)
			h.Bytes(block[:])
		}
	}
}

// Scorched returns the heat of the ground of the sector in column x and row y, row by row, from 0 to 255. If the sector
// has no block or lies outside of the realm, Scorched returns nil. A sector that is cold, or more than two sectors from
// the player, soon loses its block. The array is valid until the next tick, the load of a state or [Game.End].
func (g *Game) Scorched(x, y int) *[scorchBytes]uint8 {
	if uint(x) >= realm.Sectors || uint(y) >= realm.Sectors {
		return nil
	}
	return g.scorch.all[y*realm.Sectors+x]
}
