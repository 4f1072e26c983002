package view

import "github.com/strata-go/strata/render"

// sootSteps is how many shades there are of it: runs of a shade are one quad.
const sootSteps = 9

// soot darkens the ground on which many enemies have burst, in runs of cells of equal shade.
func (v *View) soot() {
	s := v.s.Game.Soot()
	if s.Cells == nil {
		return
	}
	lo, hi := v.seen.lo, v.seen.hi
	unit := float32(s.Unit)
	x0, x1 := max(int(lo[0])/s.Unit, 0), min(int(hi[0])/s.Unit, s.Side-1)
	y0, y1 := max(int(lo[1])/s.Unit, 0), min(int(hi[1])/s.Unit, s.Side-1)
	for y := y0; y <= y1; y++ {
		row := s.Cells[y*s.Side:][:s.Side]
		for x := x0; x <= x1; {
			from, shade := x, shadeOf(row[x])
			for x++; x <= x1 && shadeOf(row[x]) == shade; x++ {
			}
			if shade > 0 {
				v.quads.Rect(float32(from)*unit, float32(y)*unit, float32(x-from)*unit, unit, render.Color{A: 0.06 * float32(shade)})
			}
		}
	}
}

func shadeOf(dark uint8) int { return int(dark) * sootSteps / 256 }
