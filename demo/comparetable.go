package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/strata-go/strata/engine/abtest/settle"
)

// A figure is a row of the table and of the picture.
type figure struct {
	name, format string
	section      string  // of the picture
	least        float64 // the resolution: below it, figures are equal
	of           func(*trial) float64
	unknown      bool // where it is 0
}

var figures = []figure{
	{"p50 ms", "%.2f", "a tick, ms", .01, func(t *trial) float64 { return t.p50 }, false},
	{"p99 ms", "%.2f", "a tick, ms", .01, func(t *trial) float64 { return t.p99 }, false},
	{"p99.9 ms", "%.2f", "a tick, ms", .01, func(t *trial) float64 { return t.p999 }, false},
	{"max ms", "%.2f", "a tick, ms", .01, func(t *trial) float64 { return t.most }, false},
	{"CPU p50", "%.2f", "a tick, ms of its thread", .01, func(t *trial) float64 { return t.cpu50 }, true},
	{"CPU p99", "%.2f", "a tick, ms of its thread", .01, func(t *trial) float64 { return t.cpu99 }, true},
	{"CPU p99.9", "%.2f", "a tick, ms of its thread", .01, func(t *trial) float64 { return t.cpu999 }, true},
	{"collections", "%.0f", "collections", 1, func(t *trial) float64 { return t.cycles }, false},
	{"in play", "%.0f", "collections", 1, func(t *trial) float64 { return t.inPlay }, false},
	{"mark CPU ms", "%.1f", "marking, ms of a processor", .1, func(t *trial) float64 { return t.mark }, false},
	{"idle mark ms", "%.1f", "marking, ms of a processor", .1, func(t *trial) float64 { return t.idle }, false},
	{"all CPU s", "%.2f", "the process, s of a processor", .01, func(t *trial) float64 { return t.cpu }, false},
	{"RSS MiB", "%.1f", "resident at the end, MiB", .1, func(t *trial) float64 { return t.rss }, true},
}

// settled returns a figure by round, in which nothing is below the resolution.
func (f *figure) settled(t *trials) []float64 {
	all := t.series(f.of)
	for i := range all {
		all[i] = max(all[i], f.least)
	}
	return all
}

// spread returns the error of the machine: the largest deviation of the first contestant's ratio to itself from 1.
func (f *figure) spread(all []trials) float64 {
	return settle.Spread(f.settled(&all[0]), f.settled(&all[1]))
}

// against returns the median over the rounds of a contestant's figure to that of the first one, and the verdict.
func (f *figure) against(all []trials, k int) (ratio float64, v settle.Verdict) {
	ratio = settle.Median(settle.Ratios(f.settled(&all[k]), f.settled(&all[0])))
	return ratio, settle.Judge(ratio, f.spread(all))
}

// known reports whether the system has told the figure.
func (f *figure) known(t *trials) bool {
	mid, _, _ := t.median(f.of)
	return mid != 0 || !f.unknown
}

// verdicts are the words of the table, for a contestant that takes more than tiers or less.
var verdicts = map[settle.Verdict]string{settle.Win: "less", settle.Draw: "tie", settle.Loss: "more"}

// verdict returns the word and the ratio of a contestant; the first two have none.
func (f *figure) verdict(all []trials, k int) string {
	if k < 2 || !f.known(&all[k]) {
		return ""
	}
	ratio, v := f.against(all, k)
	return settle.Digits(ratio) + " " + verdicts[v]
}

// title describes the game that was played, and the machine.
func (o *options) title(all []trials) string {
	bound := "bound to a processor"
	for i := range all {
		for k := range all[i].runs {
			if !all[i].runs[k].bound {
				bound = "on any processor"
			}
		}
	}
	return fmt.Sprintf("%d ticks at heat %g, seed %d, sixty a second, the game's thread %s; medians of %d rounds in rotation; %s",
		o.ticks, o.heat, o.seed, bound, o.rounds, settle.Machine())
}

// tabulate prints a row for each figure: medians, their bounds, and ratios to tiers with their verdicts.
func (o *options) tabulate(out io.Writer, all []trials) error {
	fmt.Fprintf(out, "%s\n\n", o.title(all))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for k := range all {
		fmt.Fprintf(w, "\t%s", all[k].name)
		if k == 1 {
			fmt.Fprint(w, "\ttie within")
		} else if k > 1 {
			fmt.Fprint(w, "\tto tiers")
		}
	}
	fmt.Fprintln(w)
	for i := range figures {
		f := &figures[i]
		fmt.Fprint(w, f.name)
		for k := range all {
			fmt.Fprint(w, "\t", f.cell(&all[k]))
			if k == 1 {
				fmt.Fprintf(w, "\t±%.1f %%", 100*f.spread(all))
			} else if k > 1 {
				fmt.Fprint(w, "\t", f.verdict(all, k))
			}
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\nhash %s\n", all[0].runs[0].hash)
	return err
}

// cell is a contestant's median and its bounds.
func (f *figure) cell(t *trials) string {
	if !f.known(t) {
		return "unknown"
	}
	mid, least, greatest := t.median(f.of)
	return fmt.Sprintf(f.format+" ("+f.format+"–"+f.format+")", mid, least, greatest)
}
