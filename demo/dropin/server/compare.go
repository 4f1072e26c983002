package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/strata-go/strata/engine/abtest/settle"
)

// sides are the columns of the table. The first variant runs twice: what the two differ by, A/A, is the error of the
// machine.
var sides = []string{"plain", "plain", "reused", "strata"}

// rows are the figures of the table. Below the resolution two are equal.
var rows = []struct {
	name, format string
	least        float64
	of           func(*figures) float64
}{
	{"mallocs a tick", "%.2f", .01, func(f *figures) float64 { return f.Mallocs }},
	{"p50 ms", "%.3f", .001, func(f *figures) float64 { return f.P50 }},
	{"p99 ms", "%.3f", .001, func(f *figures) float64 { return f.P99 }},
	{"p99.9 ms", "%.3f", .001, func(f *figures) float64 { return f.P999 }},
	{"CPU p50 ms", "%.3f", .001, func(f *figures) float64 { return f.CPU50 }},
	{"CPU p99 ms", "%.3f", .001, func(f *figures) float64 { return f.CPU99 }},
	{"CPU p99.9 ms", "%.3f", .001, func(f *figures) float64 { return f.CPU999 }},
	{"collections", "%.0f", 1, func(f *figures) float64 { return f.Collections }},
	{"all CPU s", "%.2f", .01, func(f *figures) float64 { return f.CPU }},
	{"RSS MiB", "%.1f", .1, func(f *figures) float64 { return f.RSS }},
}

// compare runs the sides in rotation and prints the medians.
func compare(ticks, rounds int, seed uint64, out io.Writer) error {
	all := make([][]figures, len(sides))
	for round := range rounds {
		for j := range sides {
			k := (j + round) % len(sides)
			fmt.Fprintf(os.Stderr, "\r\x1b[Krun %d of %d: %s", round*len(sides)+j+1, rounds*len(sides), sides[k])
			f, err := child(sides[k], ticks, seed)
			if err != nil {
				return err
			}
			if all[k] = append(all[k], f); f.Checksum != all[k][0].Checksum || len(all[0]) > 0 && f.Checksum != all[0][0].Checksum {
				return fmt.Errorf("%s sent packets with checksum %s, which is not that of the others", sides[k], f.Checksum)
			}
		}
	}
	fmt.Fprint(os.Stderr, "\r\x1b[K")
	fmt.Fprintf(out, "%d clients in %d zones, %d ticks without pause, seed %d; medians of %d runs in rotation; %s\n\n", clientCount, zoneCount, ticks, seed, rounds, settle.Machine())
	if err := tabulate(all, out); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nThe rows CPU are of the thread that ticks: load of other programs is left out, help for the collector is not.\nEvery run sent the same packets: checksum %s.\n\n", all[0][0].Checksum)
	return costs(all, out)
}

// child runs a variant in a process of its own.
func child(variant string, ticks int, seed uint64) (f figures, err error) {
	exe, err := os.Executable()
	if err != nil {
		return f, err
	}
	var out, said bytes.Buffer
	cmd := exec.Command(exe, "-variant", variant, "-ticks", strconv.Itoa(ticks), "-seed", strconv.FormatUint(seed, 10))
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return f, fmt.Errorf("%s: %w: %s", variant, err, said.Bytes())
	}
	err = json.Unmarshal(out.Bytes(), &f)
	f.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	return f, err
}

// series returns a figure of a side by round.
func series(all []figures, row int) (s []float64) {
	for i := range all {
		s = append(s, max(rows[row].of(&all[i]), rows[row].least))
	}
	return s
}

// against returns the ratio of side a to side b, and whether it is a tie.
func against(all [][]figures, row, a, b int) (ratio float64, tie bool) {
	ratio = settle.Median(settle.Ratios(series(all[a], row), series(all[b], row)))
	return ratio, settle.Judge(ratio, spread(all, row)) == settle.Draw
}

// spread is the error of the machine.
func spread(all [][]figures, row int) float64 {
	return settle.Spread(series(all[0], row), series(all[1], row))
}

// ratio writes a ratio, and that it is a tie.
func ratio(all [][]figures, row, a, b int) string {
	r, tie := against(all, row, a, b)
	if tie {
		return settle.Digits(r) + " tie"
	}
	return settle.Digits(r)
}

// tabulate prints medians, the bounds of the rounds, and ratios to plain and to reused.
func tabulate(all [][]figures, out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tplain\tplain A/A\ttie within\treused\tto plain\tstrata\tto plain\tto reused")
	for row := range rows {
		fmt.Fprint(w, rows[row].name)
		for k := range all {
			s := series(all[k], row)
			f := rows[row].format
			fmt.Fprintf(w, "\t"+f+" ("+f+"–"+f+")", settle.Median(s), slices.Min(s), slices.Max(s))
			switch k {
			case 1:
				fmt.Fprintf(w, "\t±%.1f %%", 100*spread(all, row))
			case 2:
				fmt.Fprint(w, "\t", ratio(all, row, 2, 0))
			case 3:
				fmt.Fprint(w, "\t", ratio(all, row, 3, 0), "\t", ratio(all, row, 3, 2))
			}
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

//go:embed plain.go reused.go strata.go
var sources embed.FS

// lines counts the lines of a variant that are neither empty nor a comment.
func lines(variant string) (n int, err error) {
	text, err := sources.ReadFile(variant + ".go")
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && !bytes.HasPrefix(line, []byte("//")) {
			n++
		}
	}
	return n, err
}

// costs prints what the figures do not show.
func costs(all [][]figures, out io.Writer) error {
	var n [3]int
	for k, variant := range sides[1:] {
		var err error
		if n[k], err = lines(variant); err != nil {
			return err
		}
	}
	verdict := "At p50 strata is faster than reused slices."
	switch r, tie := against(all, 1, 3, 2); {
	case tie:
		verdict = "At p50 strata and reused slices are a tie."
	case r > 1:
		verdict = "At p50 reused slices are faster than strata."
	}
	fmt.Fprintf(out, `What strata costs: %d lines of code, where reused has %d and plain %d. A packet has a bound on its size, because
frame memory does not grow. Entities must not contain Go pointers; sessions, which do, stay on the Go heap. Each
snapshot and each line of chat is freed by hand. Ratios of strata to reused: p50 %s, RSS %s.
%s What reused slices lack: the bytes of each tag, budgets, leaks by name at the end,
and an error for a block that is freed twice.
`, n[2], n[1], n[0], ratio(all, 1, 3, 2), ratio(all, len(rows)-1, 3, 2), verdict)
	return nil
}
