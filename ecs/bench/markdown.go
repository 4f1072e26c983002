package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/strata-go/strata/engine/abtest/settle"
)

// The lines of a Markdown file between which its table is.
const (
	tableBegins = "<!-- table: written by go run -C ecs/bench . -md FILE -->"
	tableEnds   = "<!-- end of the table -->"
)

// markdown puts the table of the results into a file, in place of what lies between its marks.
func markdown(name string, results []result) error {
	return settle.Replace(name, tableBegins, tableEnds, rowsOf(results))
}

// rowsOf returns the table.
func rowsOf(results []result) string {
	var b strings.Builder
	for _, run := range runsOf(results) {
		fmt.Fprintf(&b, "\n%s.\n", run)
	}
	fmt.Fprintf(&b, "\n| row | %s | A/A | %s | |\n|---|---|---|%s---|\n", ours, strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for _, r := range results {
		if r.Missing != "" {
			fmt.Fprintf(&b, "| %s | not measured: %s |\n", r.Row, r.Missing)
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.Row, strings.Join(r.cells(), " | "), r.words())
	}
	return b.String() + "\n"
}

// earlier reads the results of an earlier run from what -json wrote.
func earlier(name string) (results []result, err error) {
	const most = 64 << 20 // all rows take some hundred KiB
	info, err := os.Stat(name)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > most) {
		err = fmt.Errorf("%s: allowed is a plain file of at most %d bytes", name, most)
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(name)
	}
	if err == nil {
		err = json.Unmarshal(text, &results)
	}
	for i, r := range results {
		if err == nil && r.Missing == "" && r.side(ours) == nil {
			err = fmt.Errorf("%s: result %d lacks the side %s; allowed is what -json has written", name, i, ours)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("-from: %w", err)
	}
	return results, nil
}

// merge returns the old results, with the fresh ones replacing those of the same rows, in the order of all.
func merge(all []row, old, fresh []result) (merged []result) {
	for _, r := range all {
		of := func(o result) bool { return o.Row == r.name }
		if i := slices.IndexFunc(fresh, of); i >= 0 {
			merged = append(merged, fresh[i])
		} else if i := slices.IndexFunc(old, of); i >= 0 {
			merged = append(merged, old[i])
		}
	}
	return merged
}
