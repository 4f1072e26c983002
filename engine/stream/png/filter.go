package png

import "math/bits"

// The filters of the standard, section 9.2: what was subtracted from each byte of a row.
const (
	filterNone = iota
	filterSub
	filterUp
	filterAverage
	filterPaeth
)

// unfilter undoes filter on the row cur, whose upper neighbour is prev, as long as cur. A byte's
// left neighbour is the one bpp bytes before it. It reports whether it knows the filter.
func unfilter(filter byte, cur, prev []byte, bpp int) bool {
	prev = prev[:len(cur)]
	switch filter {
	case filterNone:
	case filterSub:
		for i := bpp; i < len(cur); i++ {
			cur[i] += cur[i-bpp]
		}
	case filterUp:
		for i, b := range prev {
			cur[i] += b
		}
	case filterAverage:
		for i := range min(bpp, len(cur)) {
			cur[i] += prev[i] / 2
		}
		for i := bpp; i < len(cur); i++ {
			cur[i] += byte((int(cur[i-bpp]) + int(prev[i])) / 2)
		}
	case filterPaeth:
		unfilterPaeth(cur, prev, bpp)
	default:
		return false
	}
	return true
}

// unfilterPaeth goes through the row once per byte of a pixel, so that the left and the upper
// left neighbour stay in registers.
func unfilterPaeth(cur, prev []byte, bpp int) {
	prev = prev[:len(cur)]
	for first := range min(bpp, len(cur)) {
		left, corner := 0, 0
		for i := first; i < len(cur); i += bpp {
			up := int(prev[i])
			left = (int(cur[i]) + paeth(left, up, corner)) & 0xff
			cur[i] = byte(left)
			corner = up
		}
	}
}

// paeth is whichever of left, up and corner is nearest to left + up - corner; the earlier
// one where two are as near.
func paeth(left, up, corner int) int {
	toLeft, toUp := up-corner, left-corner
	toCorner := abs(toLeft + toUp)
	toLeft, toUp = abs(toLeft), abs(toUp)
	if toLeft <= toUp && toLeft <= toCorner {
		return left
	}
	if toUp <= toCorner {
		return up
	}
	return corner
}

// abs without a branch: the signs of differences between neighbours are anyone's guess.
func abs(x int) int {
	sign := x >> (bits.UintSize - 1)
	return (x ^ sign) - sign
}
