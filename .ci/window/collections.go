package main

import (
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/strata-go/strata/engine/abtest/settle"
)

// ways are the runs of a round: the first two are the same.
var ways = []struct {
	name string
	args []string
}{
	{"256 MiB", []string{"-headroom", "256"}}, {"256 MiB A/A", []string{"-headroom", "256"}}, {"8 MiB", []string{"-headroom", "8"}},
}

var figures = []struct {
	name string
	of   func(*report) float64
}{
	{"tick p50 ms", func(r *report) float64 { return r.TickMS.P50 }},
	{"tick p99 ms", func(r *report) float64 { return r.TickMS.P99 }},
	{"tick p99.9 ms", func(r *report) float64 { return r.TickMS.P999 }},
}

// compare plays with collections and without, and then counts the objects of this module.
func (g *game) compare(rounds, ticks int) error {
	all := make([][]report, len(ways))
	for round := range rounds {
		for place := range ways {
			k := (round + place) % len(ways)
			r, err := g.play(ticks, append([]string{"-heat", "10", "-size", "640x360"}, ways[k].args...), nil)
			if err != nil {
				return err
			}
			all[k] = append(all[k], r)
			fmt.Printf("round %d of %d, %s: p99 %.2f ms, p99.9 %.2f ms, %d collections in play, longest pause %.2f ms, marking %.1f ms\n",
				round+1, rounds, ways[k].name, r.TickMS.P99, r.TickMS.P999, r.Go.InPlay, r.Go.Pause, r.Go.Mark)
		}
	}
	if err := tabulate(all); err != nil {
		return err
	}
	return g.objects(ticks, nil)
}

// tabulate prints medians, and the ratio of the last to the first.
func tabulate(all [][]report) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "\n")
	for _, way := range ways {
		fmt.Fprintf(w, "\t%s", way.name)
	}
	fmt.Fprint(w, "\tratio\ttie within\n")
	for _, f := range figures {
		series := make([][]float64, len(all))
		for k := range all {
			for i := range all[k] {
				series[k] = append(series[k], max(f.of(&all[k][i]), 0.01))
			}
		}
		fmt.Fprint(w, f.name)
		for _, s := range series {
			fmt.Fprintf(w, "\t%.2f", settle.Median(s))
		}
		fmt.Fprintf(w, "\t%.2f\t±%.0f %%\n", settle.Median(settle.Ratios(series[2], series[0])), 100*settle.Spread(series[0], series[1]))
	}
	return w.Flush()
}
