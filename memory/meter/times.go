package meter

import (
	"math"
	"math/bits"
	"time"
)

// seconds is the number of parts of the window for which the worst and the sums are kept.
const seconds = 10

// times counts how long frames took, for each tenth of the window. A class is an eighth of its octave wide. So a
// percentile needs no list of frames and is exact to 6 %.
type times struct {
	parts [seconds]histogram
	total histogram // of the window, as of the last sum
}

type histogram struct {
	counts [classes]uint32
	n      uint32
	late   uint32
	most   time.Duration
	took   time.Duration // all of them
}

// classes reach from 1 µs to more than an hour: eight to an octave of microseconds.
const classes = 8 * 33

func classOf(d time.Duration) int {
	us := uint64(max(d.Microseconds(), 0))
	if us < 8 {
		return int(us)
	}
	e := bits.Len64(us) - 4 // us>>e is 8 to 15
	return min(8*(e+1)+int(us>>e)-8, classes-1)
}

// middle returns the duration in the middle of a class.
func middle(c int) time.Duration {
	if c < 8 {
		return time.Duration(c) * time.Microsecond
	}
	e := c/8 - 1
	return time.Duration(float64(uint64(8+c%8)<<e)+float64(uint64(1)<<e)/2) * time.Microsecond
}

// add counts a frame, which is late beyond limit: exactly, a class is wider than that.
func (h *histogram) add(d, limit time.Duration) {
	h.counts[classOf(d)]++
	h.n++
	if d > limit {
		h.late++
	}
	h.took += d
	h.most = max(h.most, d)
}

// sum brings total up to date.
func (t *times) sum() {
	t.total = histogram{}
	for i := range t.parts {
		p := &t.parts[i]
		if p.n == 0 {
			continue
		}
		for c, n := range p.counts {
			t.total.counts[c] += n
		}
		t.total.n += p.n
		t.total.late += p.late
		t.total.took += p.took
		t.total.most = max(t.total.most, p.most)
	}
}

// quantile returns the time that a share q of the frames did not exceed.
func (h *histogram) quantile(q float64) time.Duration {
	want := uint32(math.Ceil(q * float64(h.n)))
	seen := uint32(0)
	for c, n := range h.counts {
		if seen += n; seen >= want && n > 0 {
			return min(middle(c), h.most)
		}
	}
	return h.most
}
