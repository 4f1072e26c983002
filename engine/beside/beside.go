// Package beside measures things that do the same beside each other: in one process, in turns, so that
// what the machine does meanwhile meets all of them. The figures are medians, each with the middle half
// of its rounds. For tests and benchmarks.
package beside

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"
)

// A Side is one that is compared. Run does a round's work, which is the same for every side.
type Side struct {
	Name string
	Run  func()
}

// Figures are what each side took in each round, in nanoseconds.
type Figures struct {
	names []string
	took  [][]float64
}

// Measure has every side run once in each of the rounds, the first one another in every round. Between
// two rounds it calls between, which is not measured.
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

// Took returns the median of a side, and the quartiles about it.
func (f *Figures) Took(i int) (low, median, high float64) { return quartiles(f.took[i]) }

// Ratio returns how many times as long as b side a took, round by round: the median, and the quartiles
// about it.
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

// Report prints three sides as the figures of a benchmark: what ships, the same once more, and what was
// written by hand. A round is so many ticks.
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
