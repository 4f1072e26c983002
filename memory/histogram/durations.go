// Package histogram counts durations in classes of a fixed relative width. It computes quantiles of any number of
// durations in a fixed amount of memory.
package histogram

import (
	"math"
	"math/bits"
	"time"
)

// A Durations counts durations and computes their maximum and quantiles. The zero Durations is empty and ready to use.
// A Durations takes about 2.5 KiB, has no pointers, and may be copied. It is not safe for concurrent use.
//
// Below 32 ns a class is one nanosecond wide. Above, the durations from each power of two to the next have sixteen
// classes of equal width. Quantiles below 71 minutes are therefore exact to 1/32. The last class has all durations of
// 71 minutes or more: a quantile in this class is at most 73 minutes. A class counts at most 2^32-1 durations. With
// more, the quantiles are wrong.
type Durations struct {
	counts [classes]uint32
	n      uint64
	max    time.Duration
}

const (
	fineBits = 4 // of a duration, after its leading bit
	classes  = (42-fineBits)<<fineBits + 1<<fineBits
)

// Add counts a duration. A negative duration counts as 0.
func (h *Durations) Add(d time.Duration) {
	d = max(d, 0)
	h.counts[classOf(d)]++
	h.n++
	h.max = max(h.max, d)
}

// AddAll counts all durations that other has counted.
func (h *Durations) AddAll(other *Durations) {
	if other.n == 0 {
		return
	}
	for c, n := range other.counts {
		h.counts[c] += n
	}
	h.n += other.n
	h.max = max(h.max, other.max)
}

// Count returns the number of durations.
func (h *Durations) Count() uint64 { return h.n }

// Max returns the longest duration, exactly. If no duration was counted, Max returns 0.
func (h *Durations) Max() time.Duration { return h.max }

// Quantile returns the shortest duration d such that at least a share q of all durations are at most d. The result is
// as exact as [Durations] describes, also for the longest duration: use [Durations.Max] for the exact maximum. q must
// be from 0 to 1; for any other q the result is undefined. If no duration was counted, Quantile returns 0.
func (h *Durations) Quantile(q float64) time.Duration {
	return h.Nth(uint64(max(math.Ceil(q*float64(h.n)), 1)) - 1)
}

// Nth returns the duration at index n of all durations, sorted with the shortest first. The shortest has index 0. The
// result is the middle of the duration's class, but at most Max. If n is [Durations.Count] or more, Nth returns Max.
func (h *Durations) Nth(n uint64) time.Duration {
	for c, count := range h.counts {
		if n < uint64(count) {
			return min(middle(c), h.max)
		}
		n -= uint64(count)
	}
	return h.max
}

// A Spread has the quantiles .5, .99 and .999, as exact as [Durations] describes, and the exact maximum.
type Spread struct {
	P50, P99, P999, Max time.Duration
}

// Spread returns the quantiles and the maximum. If no duration was counted, Spread returns the zero Spread.
func (h *Durations) Spread() Spread {
	return Spread{h.Quantile(0.5), h.Quantile(0.99), h.Quantile(0.999), h.Max()}
}

// classOf returns the leading bits of a duration, which count up with it.
func classOf(d time.Duration) int {
	shift := max(bits.Len64(uint64(d))-1-fineBits, 0)
	return min(shift<<fineBits+int(uint64(d)>>shift), classes-1)
}

// middle returns the duration in the middle of a class.
func middle(c int) time.Duration {
	shift := max(c>>fineBits-1, 0)
	return time.Duration(c-shift<<fineBits)<<shift + time.Duration(1)<<shift>>1
}
