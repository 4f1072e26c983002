package game

import (
	"testing"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/memory/tiers"
)

// Soot is darkest in the middle of a disc, and falls with the square of the distance. It adds up to black.
func TestSoot_ADiscIsDarkestInItsMiddle(t *testing.T) {
	s := newStage(t)
	s.clear()
	soot := s.Soot()
	at := vec{float32(50*soot.Unit) + 1, float32(40*soot.Unit) + 1}
	soot.add(at, float32(2*soot.Unit))
	const r = 3 // two cells, and one
	sum := 0
	for y := range 100 {
		for x := range 100 {
			d := (x-50)*(x-50) + (y-40)*(y-40)
			want := max(0, 40-40*d/(r*r+1))
			if max(x-50, 50-x, y-40, 40-y) > r {
				want = 0
			}
			got := int(soot.Cells[y*soot.Side+x])
			if sum += got; got != want {
				t.Errorf("cell %d,%d: %d, want %d", x-50, y-40, got, want)
			}
		}
	}
	if sum == 0 {
		t.Error("the disc leaves no soot")
	}
	for range 9 {
		soot.add(at, float32(2*soot.Unit))
	}
	if c := soot.Cells[40*soot.Side+50]; c != 255 {
		t.Errorf("ten discs leave %d", c)
	}
	last := soot.Side*soot.Side - 1
	soot.add(vec{1, 1}, 1)
	soot.add(vec{worldSide - 1, worldSide - 1}, 1)
	if soot.Cells[0] != 40 || soot.Cells[1] != 20 || soot.Cells[last] != 40 || soot.Cells[last-1] != 20 {
		t.Errorf("in the corners %d %d and %d %d", soot.Cells[0], soot.Cells[1], soot.Cells[last], soot.Cells[last-1])
	}
	s.soot.reset()
	s.soot.add(at, 9) // without cells it does nothing
	if soot.Cells != nil || soot.Side != 0 || soot.Unit != 0 {
		t.Errorf("after a reset %d cells, %d in a row, of %d units", len(soot.Cells), soot.Side, soot.Unit)
	}
}

// The cells are as fine as half of the large tier's budget allows. Coarser ones are a loss.
func TestSoot_IsAsFineAsThereIsSpace(t *testing.T) {
	for _, c := range []struct {
		budget uintptr
		unit   int
		lost   int
	}{{64 << 20, 4, 0}, {19 << 20, 4, 0}, {17 << 20, 8, 1}, {4 << 20, 16, 1}, {512 << 10, 32, 1}, {256 << 10, 64, 1}, {64 << 10, 0, 1}} {
		m := small()
		m.Reserve[tiers.Large], m.Budget[tiers.Large] = 64<<20, c.budget
		s := &stage{host: newHost(t, Config{}, m, ""), t: t, tracer: &tracer{}}
		s.tracer.g = s.Game
		s.clear()
		soot := s.Soot()
		if soot.Unit != c.unit || s.Lost.Soot != c.lost || (soot.Cells == nil) != (c.unit == 0) {
			t.Errorf("%d bytes: cells of %d units, want %d; lost %+v", c.budget, soot.Unit, c.unit, s.Lost)
		}
		if c.unit > 0 && (soot.Side != realm.World/c.unit || len(soot.Cells) != soot.Side*soot.Side) {
			t.Errorf("%d bytes: %d cells in a row, %d in all", c.budget, soot.Side, len(soot.Cells))
		}
		for _, v := range soot.Cells {
			if v != 0 {
				t.Fatal("the ground begins with soot")
			}
		}
	}
}

func TestScorched_BeyondTheWorldIsCold(t *testing.T) {
	s := newStage(t)
	s.clear()
	s.scorch.burn(s.Game, middle, 20)
	x, y := sector(middle[0]), sector(middle[1])
	if s.Scorched(x, y) == nil || s.Scorched(x+1, y+1) != nil {
		t.Errorf("%v in the sector that burnt, and %v beside it", s.Scorched(x, y) != nil, s.Scorched(x+1, y+1) != nil)
	}
	for _, p := range [][2]int{{-1, y}, {x, -1}, {realm.Sectors, y}, {x, realm.Sectors}} {
		if s.Scorched(p[0], p[1]) != nil {
			t.Errorf("sector %v is not cold", p)
		}
	}
}
