package session

import (
	"math"
	"testing"
	"time"
)

// A run longer than any list of its ticks has the percentiles of all of it.
func TestTimes_PercentilesOfALongRun(t *testing.T) {
	tm := newTimes()
	const n = 1 << 20
	for i := range n { // from 1 µs to 1 ms, evenly, the slow ones first
		tm.add(time.Duration(1000 + (n-1-i)*999_000/n))
	}
	for share, want := range map[float64]float64{0.01: 0.011, 0.5: 0.5, 0.99: 0.99, 1: 1} {
		if got := tm.at(share); math.Abs(got/want-1) > 0.035 {
			t.Errorf("%g of the ticks took %.4f ms at most, want %.4f", share, got, want)
		}
	}
	for d := time.Duration(1); d < 100*time.Second; d = d*9/8 + 1 {
		if got := unslot(slot(d)); math.Abs(got/float64(d)-1) > 0.035 && d > 32 {
			t.Errorf("%v is kept as %v ns", d, got)
		}
	}
}
