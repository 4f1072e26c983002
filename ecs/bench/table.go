package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/strata-go/strata/engine/abtest/settle"
)

// table writes the results for people.
func table(out io.Writer, results []result, o options) {
	for _, run := range runsOf(results) {
		fmt.Fprintln(out, run)
	}
	fmt.Fprintf(out, "medians (least and greatest of the programs); in brackets strata as a ratio to the side\n\n")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "row\t%s\t%s\t%s\t\n", ours, again, strings.Join(columns, "\t"))
	for _, r := range results {
		if r.Missing != "" {
			fmt.Fprintf(w, "%s\tnot measured: %s\n", r.Row, r.Missing)
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.Row, strings.Join(r.cells(), "\t"), r.words())
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

// columns are the sides that the table shows beside ours and A/A.
var columns = []string{bare, floor, arks, sized, bowl, alone, tenth, zeros}

// cells are the columns of a row of the table: ours, A/A and the other sides.
func (r result) cells() (cells []string) {
	if s := r.side(ours); s.Failed != "" {
		cells = append(cells, "fails", "–")
	} else {
		cells = append(cells, fmt.Sprintf("%s (%s–%s)", settle.Figure(s.Median, r.Unit), settle.Digits(s.Low), settle.Digits(s.High)), fmt.Sprintf("±%.1f %%", 100*r.Spread))
	}
	for _, name := range columns {
		cells = append(cells, r.cell(name))
	}
	return cells
}

// cell is what the table says of a side.
func (r result) cell(name string) string {
	s := r.side(name)
	switch {
	case s == nil:
		return "–"
	case s.Failed != "":
		return "fails"
	case r.Failed != "":
		return settle.Figure(s.Median, r.Unit)
	}
	return fmt.Sprintf("%s (%.2f)", settle.Figure(s.Median, r.Unit), s.Ratio)
}

// runOf says where figures come from.
func runOf(programs, rounds int) string {
	return fmt.Sprintf("%s; programs: %d, rounds: %d", settle.Machine(), programs, rounds)
}

// runsOf returns the runs that the figures come from, each once.
func runsOf(results []result) (runs []string) {
	for _, r := range results {
		if r.Run != "" && !slices.Contains(runs, r.Run) {
			runs = append(runs, r.Run)
		}
	}
	return runs
}
