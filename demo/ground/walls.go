package ground

// A field is the distance to the edge of the walls at the centre of each cell of a recipe, in units. It is negative
// in a wall and never beyond reach. A cubic B-spline between the cells makes smooth curves of their steps.
type field []float32

const (
	see  = Border - 3 // cells that a cell looks around it for a wall
	edge = see + 1    // outer cells of the field, which cannot look as far and are not used
)

// measure fills the field. soft has the same length and is overwritten.
//
// It takes two steps: along each row the nearest cell of the other kind, then the nearest of those by column. A cell
// looks no further than each recipe that includes it can, so that neighbours agree on shared cells.
func (f field) measure(r *Recipe, soft []float32) {
	var open, rock [Span * Span]uint8 // cells along the row to the nearest of a kind, or more than see
	for y := range Span {
		scan(open[y*Span:][:Span], r, y, false)
		scan(rock[y*Span:][:Span], r, y, true)
	}
	for y := see; y < Span-see; y++ {
		for x := see; x < Span-see; x++ {
			i := y*Span + x
			other, sign := &rock, float32(1)
			if rock[i] == 0 {
				other, sign = &open, -1
			}
			best := (see + 1) * (see + 1)
			for dy := -see; dy <= see; dy++ {
				d := int(other[i+dy*Span])
				best = min(best, d*d+dy*dy)
			}
			// From the centre of a cell: the other cell begins half a cell earlier.
			soft[i] = sign * min(sqrt(float32(best))-0.5, see) * CellSize
		}
	}
	for y := edge; y < Span-edge; y++ { // corners become round
		for x := edge; x < Span-edge; x++ {
			i := y*Span + x
			f[i] = 0.25*soft[i] + 0.125*(soft[i-1]+soft[i+1]+soft[i-Span]+soft[i+Span]) +
				0.0625*(soft[i-Span-1]+soft[i-Span+1]+soft[i+Span-1]+soft[i+Span+1])
		}
	}
}

// scan writes the distance of each cell, along its row, to the nearest that is, or is not, a wall.
func scan(out []uint8, r *Recipe, y int, solid bool) {
	run := uint8(see + 1)
	for x := range Span {
		if run = min(run+1, see+1); r.Solid(x, y) == solid {
			run = 0
		}
		out[x] = run
	}
	for x := Span - 2; x >= 0; x-- {
		out[x] = min(out[x], out[x+1]+1)
	}
}

// spline has the four weights of a cubic B-spline at each of a cell's eight pixels.
var spline = func() (all [CellSize][4]float32) {
	for i := range all {
		t := (float32(i) + 0.5) / CellSize
		if t += 0.5; t >= 1 { // a pixel of the cell's second half lies past its middle
			t--
		}
		u := 1 - t
		all[i] = [4]float32{u * u * u / 6, (3*t*t*t - 6*t*t + 4) / 6, (3*u*u*u - 6*u*u + 4) / 6, t * t * t / 6}
	}
	return all
}()

// tap returns the first of the four cells that determine a pixel of the sector, and their weights.
func tap(pixel int) (cell int, w *[4]float32) {
	cell = (pixel+SectorSize)/CellSize - SectorSize/CellSize + Border // the pixel's own, also left of the sector
	at := (pixel + SectorSize) % CellSize
	if at < CellSize/2 {
		cell--
	}
	return cell - 1, &spline[at]
}

// row fills out with the distances along a row of pixels that begins at from. Rows and pixels may lie one outside the
// sector. mem has Span values.
func (f field) row(out []float32, y, from int, mem []float32) {
	cy, w := tap(y)
	rows := f[cy*Span:]
	for i := edge; i < Span-edge; i++ {
		mem[i] = w[0]*rows[i] + w[1]*rows[i+Span] + w[2]*rows[i+2*Span] + w[3]*rows[i+3*Span]
	}
	for i := range out {
		c, w := tap(from + i)
		m := mem[c : c+4 : c+4]
		out[i] = w[0]*m[0] + w[1]*m[1] + w[2]*m[2] + w[3]*m[3]
	}
}

// near is the distance at any pixel up to 16 outside the sector, less smooth.
func (f field) near(x, y int) float32 {
	x, y = x+Border*CellSize-CellSize/2, y+Border*CellSize-CellSize/2
	fx, fy := float32(x%CellSize)/CellSize, float32(y%CellSize)/CellSize
	i := y/CellSize*Span + x/CellSize
	return mix(mix(f[i], f[i+1], fx), mix(f[i+Span], f[i+Span+1], fx), fy)
}
