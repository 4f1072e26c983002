package png

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// nearest is the standard's definition of the predictor, section 9.4.
func nearest(a, b, c int) int {
	distance := func(x int) int {
		if d := a + b - c - x; d < 0 {
			return -d
		} else {
			return d
		}
	}
	if distance(a) <= distance(b) && distance(a) <= distance(c) {
		return a
	}
	if distance(b) <= distance(c) {
		return b
	}
	return c
}

func TestPaeth_IsTheStandardsForAllBytes(t *testing.T) {
	for a := range 256 {
		for b := range 256 {
			for c := range 256 {
				if got, want := paeth(a, b, c), nearest(a, b, c); got != want {
					t.Fatalf("paeth(%d, %d, %d) = %d, want %d", a, b, c, got, want)
				}
			}
		}
	}
}

// filtered is what an encoder makes of row: the reverse, as the standard has it.
func filtered(filter byte, row, prev []byte, bpp int) []byte {
	out := bytes.Clone(row)
	for i := range row {
		var left, corner int
		if i >= bpp {
			left, corner = int(row[i-bpp]), int(prev[i-bpp])
		}
		up := int(prev[i])
		out[i] -= byte([5]int{0, left, up, (left + up) / 2, nearest(left, up, corner)}[filter])
	}
	return out
}

func TestUnfilter_UndoesEachFilter(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	for filter := range byte(5) {
		for _, bpp := range []int{1, 2, 3, 4, 6, 8} {
			for n := range 40 {
				row, prev := random(rng, n*bpp), random(rng, n*bpp)
				got := filtered(filter, row, prev, bpp)
				if !unfilter(filter, got, prev, bpp) || !bytes.Equal(got, row) {
					t.Fatalf("filter %d, %d pixels of %d bytes: %v, want %v", filter, n, bpp, got, row)
				}
			}
		}
	}
	for filter := 5; filter < 256; filter++ {
		if unfilter(byte(filter), nil, nil, 1) {
			t.Fatalf("filter %d is known", filter)
		}
	}
}
