package tally

import (
	"fmt"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
)

// two returns the counts of two live blocks after a third was freed, and their sums.
func two() (Counts, Sums) {
	var c Counts
	var s Sums
	c.Out(4, 200)
	c.Out(9, 513)
	c.Out(2, 65)
	c.In(9, 513)
	s.Add(4, 200)
	s.Add(2, 65)
	return c, s
}

// faults returns what Check says, a line each.
func faults(c Counts, s Sums) string {
	var b strings.Builder
	c.Check(s, "granule", func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) })
	return b.String()
}

func TestCounts_StatsAreInBytes(t *testing.T) {
	c, _ := two()
	c.Failed()
	want := memory.Stats{InUse: 6 * 64, Peak: 15 * 64, Live: 2, Allocs: 3, Frees: 1, Failures: 1, Requested: 265, Measured: 6 * 64}
	if got := c.Stats(align.GrainOf(64)); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	c.Reset()
	want.Frees, want.Live, want.InUse, want.Requested, want.Measured = 3, 0, 0, 0, 0
	if got := c.Stats(align.GrainOf(64)); got != want || c.Used() != 0 {
		t.Errorf("after Reset: %+v, want %+v", got, want)
	}
}

func TestCounts_ResizeMovesThePeakUpOnly(t *testing.T) {
	c, _ := two()
	c.Resized(4, 1, 200, 0)
	if s := c.Stats(0); s.InUse != 3 || s.Requested != 65 || s.Peak != 15 {
		t.Errorf("shrunk: %+v", s)
	}
	c.Resized(1, 20, 0, 1280)
	if s := c.Stats(0); s.InUse != 22 || s.Requested != 1345 || s.Peak != 22 || s.Live != 2 {
		t.Errorf("grown: %+v", s)
	}
}

func TestCounts_CheckNamesWhatIsCorrupt(t *testing.T) {
	c, s := two()
	if got := faults(c, s); got != "" {
		t.Error(got)
	}
	for _, tt := range []struct {
		want    string
		corrupt func(*Counts)
	}{
		{"7 granules used for 265 bytes at a peak of 15; the blocks sum to 6 and 265", func(c *Counts) { c.used++ }},
		{"6 granules used for 264 bytes", func(c *Counts) { c.requested-- }},
		{"at a peak of 5;", func(c *Counts) { c.peak = 5 }},
		{"4 allocations less 1 frees, but 2 blocks are live", func(c *Counts) { c.allocs++ }},
		{"3 allocations less 2 frees, but 2 blocks are live", func(c *Counts) { c.frees++ }},
	} {
		bad := c
		tt.corrupt(&bad)
		if got := faults(bad, s); !strings.Contains(got, tt.want) || strings.Count(got, "\n") != 1 {
			t.Errorf("Check says %q, want %q", got, tt.want)
		}
	}
	c.Out(1, 0)
	if got := faults(c, s); strings.Count(got, "\n") != 2 {
		t.Errorf("two faults: %q", got)
	}
}

func TestCounts_ThePeakIsTheHighestAndMayBeNow(t *testing.T) {
	c, s := two()
	c.Out(1, 64)
	s.Add(1, 64)
	if got := c.Stats(0); got.Peak != 15 || got.InUse != 7 || faults(c, s) != "" {
		t.Errorf("below the peak: %+v, %q", got, faults(c, s))
	}
	c.Out(8, 512)
	s.Add(8, 512)
	if got := c.Stats(0); got.Peak != 15 || got.InUse != 15 || faults(c, s) != "" {
		t.Errorf("at the peak: %+v, %q", got, faults(c, s))
	}
}
