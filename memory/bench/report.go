package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/strata-go/strata/engine/abtest/settle"
	"github.com/strata-go/strata/engine/atomicfile"
)

// The lines of a Markdown file between which the tables are.
const (
	tablesBegin = "<!-- tables: written by go run -C memory/bench . -md FILE -->"
	tablesEnd   = "<!-- end of the tables -->"
)

// report writes all files that can be written, prints the tables, and returns the verdict of -check. A pipe that was
// closed ends the process when the tables are printed.
func (o options) report(b *bench, results []result, out io.Writer) error {
	tests := settle.Choose(o.tests(), o.rows, test.named)
	judged := o.judge(results, tests)
	text := b.header(results)
	for _, t := range tests {
		if r, ok := resultOf(results, t.name); ok {
			text += b.markdown(t, r)
		}
	}
	text += b.verdicts(judged)
	var errs []error
	if o.json != "" {
		whole, err := json.MarshalIndent(state{o.key(), results}, "", "\t")
		if err == nil {
			err = atomicfile.Write(o.json, func(w io.Writer) error { _, err := w.Write(whole); return err })
		}
		errs = append(errs, err)
	}
	if o.md != "" {
		errs = append(errs, settle.Replace(o.md, tablesBegin, tablesEnd, text+"\n"))
	}
	fmt.Fprint(out, plain(text))
	if o.check {
		errs = append(errs, failures(tests, results, judged))
	}
	return errors.Join(errs...)
}

// failures returns an error for each bound that is missed, and for each Go peer that is not behind.
func failures(tests []test, results []result, judged []judgement) error {
	var wrong []error
	for _, j := range judged {
		if !j.met() && !j.shown {
			wrong = append(wrong, fmt.Errorf("%s, %s, %s: the bound is %g, the ratio %.3f: %s", j.test, j.side, j.figure, j.most, j.Ratio, j.verdict()))
		}
	}
	for _, t := range tests {
		if r, ok := resultOf(results, t.name); ok {
			wrong = append(wrong, t.behind(r)...)
		}
	}
	return errors.Join(wrong...)
}

// header names the machine, and the version and flags of each side.
func (b *bench) header(results []result) string {
	var s strings.Builder
	fmt.Fprintf(&s, "\n%s. The line above each table says how many programs of each side ran, and how often.\n", settle.Machine())
	loads := []float64{}
	for _, r := range results {
		if r.Missing == "" {
			loads = append(loads, r.Load)
		}
	}
	if len(loads) > 0 {
		fmt.Fprintf(&s, "\nThe load average before each workload was %.1f to %.1f.\n", slices.Min(loads), slices.Max(loads))
	}
	fmt.Fprintf(&s, "\nGo sides: go build with its default flags, GOAMD64=v1; modernc.org/memory %s. C sides, with cc %s, static or by LD_PRELOAD:", moderncVersion, strings.Join(cFlags, " "))
	names := cNames()
	for _, p := range b.o.peers {
		names = append(names, p.name)
	}
	for i, name := range names {
		fmt.Fprintf(&s, "%s %s (%s)", strings.Repeat(",", min(i, 1)), name, b.versions[name])
	}
	return s.String() + ".\n"
}

// moderncVersion is that of go.mod; a test compares them.
const moderncVersion = "v1.12.1"

// command returns the command that measures the rows, or all if there are none.
func (o options) command(rows string) string {
	s := "go run -C memory/bench ."
	switch {
	case o.check:
		s += " -check"
	case o.all:
		s += " -all"
	}
	if rows != "" {
		s += " -rows \"" + rows + "\""
	}
	return s
}

// markdown returns the table of a test, with the machine above and the command below.
func (b *bench) markdown(t test, r result) string {
	var s strings.Builder
	fmt.Fprintf(&s, "\n%s: %s.\n\n", t.name, t.what)
	if r.Missing != "" {
		return s.String() + "Not measured: " + r.Missing + ".\n"
	}
	fmt.Fprintf(&s, "%s.\n\n| %s | ns | memfast | to the best of C | memfast | A/A | p99.9, ns | resident / live |\n|---|---|---|---|---|---|---|---|\n", r.Run, t.name)
	best := r.best(t.libraries(), t.figure)
	for _, name := range b.lines(t) {
		fmt.Fprintf(&s, "| %s | %s |\n", name, strings.Join(r.cells(t, name, best), " | "))
	}
	return s.String() + "\n    " + b.o.command(t.name) + "\n"
}

// lines returns the sides that have a line of their own: the build with memfast is in the line of the default one.
func (b *bench) lines(t test) (names []string) {
	for _, name := range t.sides() {
		if base, ok := strings.CutSuffix(name, fast); !ok || !slices.Contains(t.sides(), base) {
			names = append(names, name)
		}
	}
	for _, p := range b.o.peers {
		names = append(names, p.name)
	}
	return names
}

// cells are the columns of a side.
func (r result) cells(t test, side, best string) []string {
	cells := []string{"–", "–", "–", "–", "–", "–", "–"}
	for k, name := range []string{side, side + fast} {
		if m, ok := r.median(name, t.figure); ok {
			cells[k] = settle.Digits(m)
		}
		if ratio, ok := r.ratio(name, best, t.figure); ok {
			cells[2+k] = fmt.Sprintf("%.2f", ratio)
		}
	}
	if spread, ok := r.spread(side, t.figure); ok {
		cells[4] = fmt.Sprintf("±%.1f %%", 100*spread)
	}
	if m, ok := r.median(side, "p999"); ok && !t.whole {
		cells[5] = settle.Digits(m)
	}
	if m, ok := r.median(side, overLive); ok && t.whole {
		cells[6] = fmt.Sprintf("%.2f", m)
	}
	return cells
}

// verdicts returns the table of the bounds, with the machine above and the command below.
func (b *bench) verdicts(judged []judgement) string {
	if judged == nil {
		return ""
	}
	var s strings.Builder
	s.WriteString("\n" + settle.Machine() + ".\n\n| judged | figure | of | its figure | ratio | bound | A/A | |\n|---|---|---|---|---|---|---|---|\n")
	for _, j := range judged {
		name := j.test + ", " + j.side
		if j.figure != "pair" && j.figure != j.test {
			name += ", " + j.figure
		}
		if j.shown {
			name += " (shown, not judged)"
		}
		if j.since != "" {
			name += ", ratio over that of " + j.since
		}
		figures := [2]string{"–", "–"} // a mean of ratios has none
		if j.Figure != 0 {
			figures = [2]string{settle.Digits(j.Figure), settle.Digits(j.Peers)}
		}
		fmt.Fprintf(&s, "| %s | %s | %s | %s | %.3f | %g | ±%.1f %% | %s |\n", name, figures[0], j.Peer, figures[1], j.Ratio, j.most, 100*j.Spread, j.verdict())
	}
	return s.String() + "\n    " + b.o.command(b.o.rows) + "\n"
}

// plain turns Markdown tables into columns for a terminal.
func plain(text string) string {
	var s strings.Builder
	w := tabwriter.NewWriter(&s, 0, 0, 2, ' ', 0)
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "|---") {
			continue
		}
		if row, ok := strings.CutPrefix(strings.TrimSuffix(line, "|\n"), "| "); ok {
			line = strings.ReplaceAll(row, " | ", "\t") + "\n"
		} else {
			w.Flush()
		}
		fmt.Fprint(w, line)
	}
	w.Flush()
	return s.String()
}
