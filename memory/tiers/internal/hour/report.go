package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/strata-go/strata/memory"
)

// What committed memory may grow by after the first minute: in the first hour, and in each
// later one.
const (
	firstHour  = 0.05
	laterHours = 0.02
)

// report prints the table: a line per tier at the moments that matter.
func report(out io.Writer, l load, samples []sample) {
	fmt.Fprintf(out, "%d frames, seed %d, %s; MiB\n\n", l.Frames, l.Seed, map[bool]string{true: "levels of 3 minutes", false: "no levels"}[l.Levels])
	fmt.Fprintf(out, "%8s  %-6s  %9s  %9s  %8s  %9s  %8s  %8s  %8s\n",
		"minute", "", "committed", "most yet", "in use", "asked for", "blocks", "internal", "external")
	var most [2]uint64
	row := 0
	moments := moments(len(samples))
	for i, s := range samples {
		for k, st := range s.Tiers {
			most[k] = max(most[k], st.Committed)
		}
		if row == len(moments) || i+1 != moments[row] {
			continue
		}
		row++
		for k, st := range s.Tiers {
			fmt.Fprintf(out, "%8.0f  %-6s  %9.2f  %9.2f  %8.2f  %9.2f  %8d  %6.1f %%  %8s\n", float64(s.Frame)/framesPerMinute, sampled[k],
				mib(st.Committed), mib(most[k]), mib(st.InUse), mib(s.Asked[k]), st.Live, 100*internal(st.InUse, s.Asked[k]), external(st))
		}
		fmt.Fprintf(out, "%8s  %-6s  %9.2f  %9.2f  %8.2f  %9.2f  %8d  %6.1f %%\n\n", "", "both",
			mib(s.committed()), mib(mostOf(samples[:i+1])), mib(s.inUse()), mib(s.asked()), s.Live, 100*internal(s.inUse(), s.asked()))
	}
}

// moments are the seconds that the table shows, the last one among them.
func moments(seconds int) (at []int) {
	for _, minute := range []int{1, 10, 30, 60, 90, 120, 240, 480, 720, 1440} {
		if minute*60 < seconds {
			at = append(at, minute*60)
		}
	}
	return append(at, seconds)
}

func mib(bytes uint64) float64 { return float64(bytes) / (1 << 20) }

// internal is internal fragmentation. Slab does not keep requested sizes, so the load does.
func internal(inUse, asked uint64) float64 {
	if inUse == 0 {
		return 0
	}
	return 1 - float64(asked)/float64(inUse)
}

// external is the share of the free bytes outside the largest free block. It is "-" for slab, for which it would be
// almost all, because no block is larger than 4 KiB.
func external(s memory.Stats) string {
	if s.Free == 0 || s.LargestFree <= 4096 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*s.External())
}

// mostOf returns the most bytes that were committed at once.
func mostOf(samples []sample) (most uint64) {
	for _, s := range samples {
		most = max(most, s.committed())
	}
	return most
}

// A growth is what committed memory gained in an hour.
type growth struct {
	hour        int
	share, most float64
}

// growths compares the most that was committed in each hour with the most until it began: until
// the first minute was over, for the first.
func growths(samples []sample) (all []growth) {
	for begin := 60; begin < len(samples); {
		hour := len(all) + 1
		end := min(hour*3600, len(samples))
		g := growth{hour: hour, most: laterHours}
		if hour == 1 {
			g.most = firstHour
		}
		before := mostOf(samples[:begin])
		g.share = float64(max(mostOf(samples[begin:end]), before))/float64(before) - 1
		all = append(all, g)
		begin = end
	}
	return all
}

// verdict says what committed memory has grown by, and errs where it is too much.
func verdict(out io.Writer, samples []sample) error {
	var err error
	for _, g := range growths(samples) {
		what := "in a later hour"
		if g.hour == 1 {
			what = "after the first minute"
		}
		fmt.Fprintf(out, "hour %d: committed grew by %.2f %%; allowed %s are %.0f %%\n", g.hour, 100*g.share, what, 100*g.most)
		if g.share > g.most+1e-9 {
			err = errGrown
		}
	}
	return err
}

// csv writes a line per second.
func csv(w io.Writer, samples []sample) error {
	var b strings.Builder
	b.WriteString("second,blocks,asked")
	for _, t := range sampled {
		fmt.Fprintf(&b, ",%s committed,%[1]s in use,%[1]s free,%[1]s largest free", t)
	}
	for _, s := range samples {
		fmt.Fprintf(&b, "\n%d,%d,%d", s.Frame/framesPerSecond, s.Live, s.asked())
		for _, st := range s.Tiers {
			fmt.Fprintf(&b, ",%d,%d,%d,%d", st.Committed, st.InUse, st.Free, st.LargestFree)
		}
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}
