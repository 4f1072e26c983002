package render

import (
	"cmp"
	"image/color"
	"slices"
)

// Colours are counted by their five highest bits of red, green and blue.
const (
	bins    = 1 << 15
	binBits = 3 // dropped of each
)

func bin(r, g, b byte) int {
	return int(r>>binBits)<<10 | int(g>>binBits)<<5 | int(b>>binBits)
}

func channel(bin, c int) int { return bin >> (10 - 5*c) & 31 }

// A cut is a part of a list of bins, and how many pixels lie in it.
type cut struct {
	bins  []int
	count int
}

// medianCut returns at most n colours for pictures of RGB. It cuts the box with the largest product of length and
// root of pixels at its median, along its longest side, until there are n.
func medianCut(pictures [][]byte, n int) color.Palette {
	var counts [bins]int
	for _, p := range pictures {
		for i := 0; i+2 < len(p); i += 3 {
			counts[bin(p[i], p[i+1], p[i+2])]++
		}
	}
	first := cut{}
	for b, c := range counts {
		if c > 0 {
			first.bins, first.count = append(first.bins, b), first.count+c
		}
	}
	cuts := []cut{first}
	for len(cuts) < n {
		at, best, along := -1, 0, 0
		for i, c := range cuts {
			axis, length := c.longest()
			// The root of the count: glow is rare and must keep its colours.
			if w := length * isqrt(c.count); length > 0 && w > best {
				at, best, along = i, w, axis
			}
		}
		if at < 0 {
			break // each colour has one of its own
		}
		a, b := cuts[at].halve(along, &counts)
		cuts[at] = a
		cuts = append(cuts, b)
	}
	out := make(color.Palette, len(cuts))
	for i, c := range cuts {
		out[i] = c.mean(&counts)
	}
	return out
}

func isqrt(n int) int {
	r := 1
	for r*r < n {
		r *= 2
	}
	for range 8 {
		r = (r + n/r) / 2
	}
	return r
}

// longest returns the channel in which the bins differ most, and by how much.
func (c cut) longest() (axis, length int) {
	for a := range 3 {
		lo, hi := 31, 0
		for _, b := range c.bins {
			lo, hi = min(lo, channel(b, a)), max(hi, channel(b, a))
		}
		if hi-lo > length {
			axis, length = a, hi-lo
		}
	}
	return axis, length
}

// halve cuts so that each side has about half of the pixels, and at least one bin.
func (c cut) halve(axis int, counts *[bins]int) (a, b cut) {
	slices.SortFunc(c.bins, func(x, y int) int {
		return cmp.Or(cmp.Compare(channel(x, axis), channel(y, axis)), cmp.Compare(x, y))
	})
	at, sum := 0, 0
	for at < len(c.bins)-1 && (at == 0 || sum < c.count/2) {
		sum += counts[c.bins[at]]
		at++
	}
	return cut{c.bins[:at], sum}, cut{c.bins[at:], c.count - sum}
}

func (c cut) mean(counts *[bins]int) color.Color {
	var sum [3]int
	for _, b := range c.bins {
		for a := range sum {
			sum[a] += (channel(b, a)<<binBits + 4) * counts[b]
		}
	}
	n := max(c.count, 1)
	return color.RGBA{uint8(sum[0] / n), uint8(sum[1] / n), uint8(sum[2] / n), 255}
}

// nearest finds colours of a palette, and remembers what it found.
type nearest struct {
	colors [][3]int
	known  [bins]int16 // plus 1
}

func newNearest(p color.Palette) *nearest {
	n := &nearest{}
	for _, c := range p {
		r, g, b, _ := c.RGBA()
		n.colors = append(n.colors, [3]int{int(r >> 8), int(g >> 8), int(b >> 8)})
	}
	return n
}

// bayer is the order in which a 4 × 4 tile of pixels turns brighter.
var bayer = [16]int{0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5}

// dithered returns the number of the colour for a pixel at x, y.
func (n *nearest) dithered(rgb []byte, x, y int) uint8 {
	d := bayer[y&3<<2|x&3] - 7
	var c [3]byte
	for a := range c {
		c[a] = byte(max(0, min(255, int(rgb[a])+d/3)))
	}
	key := bin(c[0], c[1], c[2])
	if n.known[key] == 0 {
		n.known[key] = int16(n.search(key)) + 1
	}
	return uint8(n.known[key] - 1)
}

func (n *nearest) search(key int) int {
	at, best := 0, 1<<30
	for i, c := range n.colors {
		sum := 0
		for a := range c {
			d := c[a] - (channel(key, a)<<binBits + 4)
			sum += d * d
		}
		if sum < best {
			at, best = i, sum
		}
	}
	return at
}
