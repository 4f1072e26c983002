package game

import (
	"unsafe"

	"github.com/strata-go/strata/demo/level"
)

// ScorchCell is the side of a cell of the scorched ground in logical units.
const ScorchCell = 8

// Scorch is the ground's heat: where something died it glows and cools. It is one block of
// the large tier, for the length of a level.
type Scorch struct {
	Heat       []uint8 // Cols * Rows cells, row by row; nil when there was no room
	Cols, Rows int
	cooled     int // the next row to cool: a few rows a tick
}

func (s *Scorch) begin(g *Game) {
	s.end(g)
	cols, rows := int(g.Level.Arena.Width)/ScorchCell+1, int(g.Level.Arena.Height)/ScorchCell+1
	p, err := g.mem.Large().Alloc(uintptr(cols*rows), 64)
	if err != nil {
		g.Lost.Scorch++
		return
	}
	*s = Scorch{Heat: unsafe.Slice((*uint8)(p), cols*rows), Cols: cols, Rows: rows}
	clear(s.Heat)
}

func (s *Scorch) end(g *Game) {
	if s.Heat != nil {
		g.mem.Free(unsafe.Pointer(unsafe.SliceData(s.Heat)), uintptr(len(s.Heat)))
	}
	*s = Scorch{}
}

// burn heats a disc.
func (s *Scorch) burn(l *level.Level, at vec, radius float32) {
	if s.Heat == nil {
		return
	}
	cx, cy, r := int(at[0])/ScorchCell, int(at[1])/ScorchCell, int(radius)/ScorchCell+1
	for y := max(cy-r, 0); y <= min(cy+r, s.Rows-1); y++ {
		for x := max(cx-r, 0); x <= min(cx+r, s.Cols-1); x++ {
			d := (x-cx)*(x-cx) + (y-cy)*(y-cy)
			if heat := 200 - 200*d/(r*r+1); heat > 0 {
				i := y*s.Cols + x
				s.Heat[i] = uint8(min(255, int(s.Heat[i])+heat))
			}
		}
	}
}

// cool takes a tenth of the rows a tick.
func (s *Scorch) cool() {
	if s.Heat == nil {
		return
	}
	for range (s.Rows + 9) / 10 {
		row := s.Heat[s.cooled*s.Cols:][:s.Cols]
		for i, h := range row {
			row[i] = h - h/24 - min(h, 1)
		}
		s.cooled = (s.cooled + 1) % s.Rows
	}
}
