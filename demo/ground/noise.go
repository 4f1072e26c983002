package ground

import "math"

// Noise is defined in coordinates of the world. Its lattice points are whole multiples of a size in pixels, for any
// sector, so that two sectors meet without a seam.

// hash mixes a lattice point and a seed into 32 well-spread bits.
func hash(x, y int, seed uint32) uint32 {
	h := uint32(x)*0x8da6b343 ^ uint32(y)*0xd8163841 ^ seed*0xcb1ab31f
	h = (h ^ h>>16) * 0x7feb352d
	h = (h ^ h>>15) * 0x846ca68b
	return h ^ h>>16
}

// slopes are sixteen directions.
var slopes = [16][2]float32{
	{1, 0}, {0.92388, 0.38268}, {0.70711, 0.70711}, {0.38268, 0.92388}, {0, 1}, {-0.38268, 0.92388}, {-0.70711, 0.70711}, {-0.92388, 0.38268},
	{-1, 0}, {-0.92388, -0.38268}, {-0.70711, -0.70711}, {-0.38268, -0.92388}, {0, -1}, {0.38268, -0.92388}, {0.70711, -0.70711}, {0.92388, -0.38268},
}

func slope(x, y int, seed uint32) [2]float32 { return slopes[hash(x, y, seed)>>28] }

// ease has zero first and second derivative at both ends, so the lattice does not show.
func ease(t float32) float32 { return t * t * t * (t*(t*6-15) + 10) }

func sqrt(v float32) float32 { return float32(math.Sqrt(float64(v))) }

func mix(a, b, t float32) float32 { return a + (b-a)*t }

func clamp(v float32) float32 { return min(max(v, 0), 1) }

// step goes smoothly from 0 at lo to 1 at hi.
func step(lo, hi, v float32) float32 {
	t := clamp((v - lo) / (hi - lo))
	return t * t * (3 - 2*t)
}

func abs(v float32) float32 { return max(v, -v) }

// floor splits v into its whole and its broken part.
func floor(v float32) (int, float32) {
	i := int(v)
	if v < float32(i) {
		i--
	}
	return i, v - float32(i)
}

// addNoise adds gradient noise of about [-amp, amp] to a row. The i-th sample lies at (x0 + i*fineStep, y), and hills are
// size wide. Coordinates must not be negative. A lattice cell is computed once, so it is a few times as fast as
// noiseAt.
func addNoise(row []float32, x0, y, size int, amp float32, seed uint32) {
	iy, fy := y/size, float32(y%size)/float32(size)
	sy := ease(fy)
	amp *= 1.5
	scale := 1 / float32(size)
	last := -1
	var a0, ax, b0, bx float32 // the row's slope at both ends of the cell: value and rise
	for i := range row {
		x := x0 + i*fineStep
		ix := x / size
		if ix != last {
			last = ix
			p, q := slope(ix, iy, seed), slope(ix, iy+1, seed)
			ax, a0 = mix(p[0], q[0], sy), mix(p[1]*fy, q[1]*(fy-1), sy)
			p, q = slope(ix+1, iy, seed), slope(ix+1, iy+1, seed)
			bx, b0 = mix(p[0], q[0], sy), mix(p[1]*fy, q[1]*(fy-1), sy)
		}
		f := float32(x-ix*size) * scale
		a := a0 + ax*f
		row[i] += amp * (a + (b0+bx*(f-1)-a)*ease(f))
	}
}

// noiseAt is the same noise at a point in lattice cells.
func noiseAt(x, y float32, seed uint32) float32 {
	ix, fx := floor(x)
	iy, fy := floor(y)
	a, b := slope(ix, iy, seed), slope(ix+1, iy, seed)
	c, d := slope(ix, iy+1, seed), slope(ix+1, iy+1, seed)
	sx := ease(fx)
	top := mix(a[0]*fx+a[1]*fy, b[0]*(fx-1)+b[1]*fy, sx)
	low := mix(c[0]*fx+c[1]*(fy-1), d[0]*(fx-1)+d[1]*(fy-1), sx)
	return 1.5 * mix(top, low, ease(fy))
}

// A plate is a point's place in a Voronoi diagram, in lattice cells.
type plate struct {
	tone       float32 // random per plate, 0 to 1
	near       float32 // squared distance to its own point
	edge       float32 // distance to the border with the next
	outX, outY float32 // across that border, one long
}

// plateAt looks among the nine jittered points around (x, y), given in lattice cells.
func plateAt(x, y float32, seed uint32) plate {
	ix, fx := floor(x)
	iy, fy := floor(y)
	d1, d2 := float32(9), float32(9)
	var x1, y1, x2, y2 float32
	var own uint32
	for dy := -1; dy <= 1; dy++ {
		for dx := -1; dx <= 1; dx++ {
			h := hash(ix+dx, iy+dy, seed)
			px := float32(dx) + 0.12 + float32(h&0xffff)*(0.76/65536) - fx
			py := float32(dy) + 0.12 + float32(h>>16)*(0.76/65536) - fy
			d := px*px + py*py
			switch {
			case d < d1:
				d2, x2, y2 = d1, x1, y1
				d1, x1, y1, own = d, px, py, h
			case d < d2:
				d2, x2, y2 = d, px, py
			}
		}
	}
	ax, ay := x2-x1, y2-y1
	length := sqrt(ax*ax + ay*ay)
	return plate{float32(own>>9&0xff) / 255, d1, (d2 - d1) / (2 * length), ax / length, ay / length}
}
