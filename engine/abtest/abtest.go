// Package abtest compares the time of implementations that do the same work. The implementations run in turns in one
// process, so that other load on the machine affects all of them. Results are medians with quartiles. The package is
// for tests and benchmarks.
package abtest

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"
)

// A Side is an implementation. Name is its name in Report, and Run does the work of one round.
type Side struct {
	Name string
	Run  func()
}

// Figures are the measured times of all sides. Sides are numbered from 0, in the order of the arguments of Measure.
type Figures struct {
	names []string
	took  [][]float64 // by side and round, in nanoseconds
}

// Measure runs every side once in each round and returns the wall-clock times. The order of the sides rotates from
// round to round. Before each round Measure calls `between`; it must not be nil. The time of this call is not
// measured. With rounds below 1 the methods of Figures panic. During the call of Measure the goroutine is locked to
// its thread.
func Measure(rounds int, between func(), sides ...Side) *Figures {
	f := &Figures{took: make([][]float64, len(sides))}
	for _, s := range sides {
		f.names = append(f.names, s.Name)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for r := range rounds {
		between()
		for k := range sides {
			i := (r + k) % len(sides)
			began := time.Now()
			sides[i].Run()
			f.took[i] = append(f.took[i], float64(time.Since(began).Nanoseconds()))
		}
	}
	return f
}

// Took returns the lower quartile, the median and the upper quartile of side i's time for a round, in nanoseconds. If
// there is no such side, or if there were no rounds, Took panics.
func (f *Figures) Took(i int) (low, median, high float64) { return quartiles(f.took[i]) }

// Ratio returns the lower quartile, the median and the upper quartile of side a's time divided by side b's time of the
// same round. A ratio below 1 means that side a is faster. If there is no side a or no side b, or if there were no
// rounds, Ratio panics.
func (f *Figures) Ratio(a, b int) (low, median, high float64) {
	all := make([]float64, len(f.took[a]))
	for r := range all {
		all[r] = f.took[a][r] / f.took[b][r]
	}
	return quartiles(all)
}

func quartiles(v []float64) (low, median, high float64) {
	v = slices.Clone(v)
	slices.Sort(v)
	return v[len(v)/4], v[len(v)/2], v[len(v)*3/4]
}

// Report reports the metrics of a benchmark with three sides: side 0 is the shipped implementation, side 1 is the
// shipped implementation again, and side 2 is the hand-written baseline. A round simulates the given number of ticks.
// The metrics are the median time of a tick of sides 0 and 2, in µs, and two median ratios. The first ratio is side 0
// to side 2. The second ratio is side 0 to side 1, under the name A/A. Report also logs the quartiles of both ratios,
// and sets ns/op to 0. Report panics with fewer than three sides, or if the name of side 0 or 2 has white space.
func (f *Figures) Report(b *testing.B, ticks int) {
	b.Helper()
	b.ReportMetric(0, "ns/op")
	for _, i := range [...]int{0, 2} {
		_, m, _ := f.Took(i)
		b.ReportMetric(m/float64(ticks)/1000, "µs/tick-"+f.names[i])
	}
	low, m, high := f.Ratio(0, 2)
	b.ReportMetric(m, "ratio")
	aLow, a, aHigh := f.Ratio(0, 1)
	b.ReportMetric(a, "A/A")
	b.Logf("ratio %s, A/A %s (median, and the middle half of %d rounds)", spread(low, m, high), spread(aLow, a, aHigh), len(f.took[0]))
}

func spread(low, median, high float64) string {
	return fmt.Sprintf("%.3f (%.3f to %.3f)", median, low, high)
}
