package png

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
		if bpp == 4 {
			unfilterPaeth4(cur, prev)
		} else {
			unfilterPaeth(cur, prev, bpp)
		}
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

// paeth is the one of left, up and corner that is nearest to left + up - corner, the earlier one
// if two are as near. The standard compares three distances; that it comes to these two
// comparisons is tested for all values. They are selected without a branch, and inline.
func paeth(left, up, corner int) int {
	bend := 3*corner - left - up
	lo, hi := min(left, up), max(left, up)
	best := corner
	if hi <= bend {
		best = lo
	}
	if bend <= lo {
		best = hi
	}
	return best
}

// unfilterPaeth4 is unfilterPaeth for pixels of 4 bytes, whose four chains of dependent steps
// run side by side; BenchmarkDecode paid for it, as most pictures are RGBA.
func unfilterPaeth4(cur, prev []byte) {
	prev = prev[:len(cur)]
	var l0, l1, l2, l3, c0, c1, c2, c3 int
	for i := 0; i+4 <= len(cur); i += 4 {
		p, q := prev[i:i+4:i+4], cur[i:i+4:i+4]
		u0, u1, u2, u3 := int(p[0]), int(p[1]), int(p[2]), int(p[3])
		l0 = (int(q[0]) + paeth(l0, u0, c0)) & 0xff
		l1 = (int(q[1]) + paeth(l1, u1, c1)) & 0xff
		l2 = (int(q[2]) + paeth(l2, u2, c2)) & 0xff
		l3 = (int(q[3]) + paeth(l3, u3, c3)) & 0xff
		q[0], q[1], q[2], q[3] = byte(l0), byte(l1), byte(l2), byte(l3)
		c0, c1, c2, c3 = u0, u1, u2, u3
	}
}
