package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
)

// table writes the results for people.
func table(out io.Writer, results []result, o options) {
	if o.from == "" {
		fmt.Fprintf(out, "%s, %s/%s, %s; %d programs, %d rounds\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, processor(), o.placements, o.rounds)
	}
	fmt.Fprintf(out, "medians (least and greatest of the programs); in brackets strata as a ratio to the side\n\n")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "row\t%s\t%s\t%s\t%s\t%s\t%s\t\n", ours, again, bare, floor, arks, bowl)
	for _, r := range results {
		if r.Missing != "" {
			fmt.Fprintf(w, "%s\tnot measured: %s\n", r.Row, r.Missing)
			continue
		}
		s := r.side(ours)
		fmt.Fprintf(w, "%s\t%s (%s–%s)\t±%.1f %%\t%s\t%s\t%s\t%s\t%s\n", r.Row, figure(s.Median, r.Unit), short(s.Low), short(s.High),
			100*r.Spread, r.cell(bare), r.cell(floor), r.cell(arks), r.cell(bowl), r.words())
	}
	w.Flush()
}

// side returns the side of this name, or nil.
func (r result) side(name string) *sideResult {
	for i := range r.Sides {
		if r.Sides[i].Name == name {
			return &r.Sides[i]
		}
	}
	return nil
}

// cell is what the table says of a side.
func (r result) cell(name string) string {
	s := r.side(name)
	if s == nil {
		return "–"
	}
	return fmt.Sprintf("%s (%.2f)", figure(s.Median, r.Unit), s.Ratio)
}

// figure writes a figure with its unit, or a larger one.
func figure(v float64, unit string) string {
	switch {
	case unit == "ns" && v >= 1e4:
		return figure(v/1e3, "µs")
	case unit == "µs" && v >= 1e4:
		return figure(v/1e3, "ms")
	}
	return short(v) + " " + unit
}

// short writes three digits.
func short(v float64) string {
	switch {
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// processor names the processor, and says how busy the system is, where it can be known.
func processor() string {
	name := "unknown processor"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if key, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				name = strings.TrimSpace(v)
				break
			}
		}
	}
	name = fmt.Sprintf("%d × %s", runtime.NumCPU(), name)
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		if f := strings.Fields(string(text)); len(f) > 0 {
			name += ", load " + f[0]
		}
	}
	return name
}
