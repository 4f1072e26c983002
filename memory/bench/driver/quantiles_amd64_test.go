package main

import "testing"

func TestQuantiles_AreOfTheSortedTimes(t *testing.T) {
	j := job{figures: map[string]float64{}}
	ticks := make([]uint32, 10_001)
	for i := range ticks {
		ticks[i] = uint32(10_000 - i)
	}
	j.quantiles("", ticks)
	for name, want := range map[string]float64{"p50": 5000, "p99": 9900, "p999": 9990, "p9999": 9999} {
		if got := j.figures[name] * ticksPerNS; got < want-1.5 || got > want+1.5 {
			t.Errorf("%s: %g ticks, not %g", name, got, want)
		}
	}
}
