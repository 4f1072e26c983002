package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/strata-go/strata/memory/trace"
)

// A row is a trace's row in the table of README.md.
type row struct {
	name, kind, program, command string
	facts
}

// facts are what the file of a trace says about itself.
type facts struct {
	operations uint64 // allocations, frees and resizes
	blocks     uint64 // allocations
	peak       uint64 // requested bytes of live blocks, at their high-water mark
	threads    int    // that allocate, free or resize
	bytes      int    // of the file
	sum        string // SHA-256 of the file
}

// measure reads a whole trace.
func measure(file []byte) (f facts, err error) {
	r, err := trace.NewReader(bytes.NewReader(file))
	if err != nil {
		return f, err
	}
	f.bytes, f.sum = len(file), fmt.Sprintf("%x", sha256.Sum256(file))
	var sizes []uint64 // by the number of the block; 0 if it is freed
	threads := map[uint32]bool{}
	live := uint64(0)
	for {
		e, err := r.Next()
		if err == io.EOF {
			f.threads = len(threads)
			return f, nil
		}
		if err != nil {
			return f, err
		}
		if e.Kind > trace.Resize {
			continue
		}
		if e.Kind == trace.Alloc {
			f.blocks++
			sizes = append(sizes, 0)
		}
		live += e.Size - sizes[e.Block] // of a free the size is 0
		sizes[e.Block] = e.Size
		f.peak = max(f.peak, live)
		f.operations++
		threads[e.Thread] = true
	}
}

const columns = 10

// String returns the row as it is in the table.
func (r row) String() string {
	return fmt.Sprintf("| %s | %s | %s | %s | %d | %d | %d | %d | %d | %s |",
		r.name, r.kind, r.program, r.command, r.operations, r.blocks, r.peak, r.threads, r.bytes, r.sum)
}

// parseRow is the inverse of String.
func parseRow(line string) (r row, err error) {
	cells := strings.Split(strings.Trim(line, "|"), "|")
	if len(cells) != columns {
		return r, fmt.Errorf("%d columns, want %d: %.40q", len(cells), columns, line)
	}
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	number := func(cell string) uint64 {
		n, bad := strconv.ParseUint(cell, 10, 48)
		err = errors.Join(err, bad)
		return n
	}
	r = row{name: cells[0], kind: cells[1], program: cells[2], command: cells[3]}
	r.facts = facts{number(cells[4]), number(cells[5]), number(cells[6]), int(number(cells[7])), int(number(cells[8])), cells[9]}
	return r, err
}

// The table is between these lines of README.md, after its two head lines.
const (
	tableBegin = "<!-- traces -->\n"
	tableEnd   = "<!-- end of traces -->\n"
	tableHead  = "| trace | kind | program, version | command | operations | blocks | peak live, bytes | threads | file, bytes | SHA-256 |\n" +
		"|---|---|---|---|---|---|---|---|---|---|\n"
)

// list returns the rows of README.md.
func list(readme string) ([]row, error) {
	_, rest, begins := strings.Cut(readme, tableBegin+tableHead)
	table, _, ends := strings.Cut(rest, tableEnd)
	if !begins || !ends {
		return nil, fmt.Errorf("README.md: no table between %q and %q", tableBegin, tableEnd)
	}
	var rows []row
	for line := range strings.Lines(table) {
		r, err := parseRow(strings.TrimSpace(line))
		if err != nil {
			return nil, fmt.Errorf("README.md: row %d: %w", len(rows), err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// enter returns README.md with the row instead of the row of the same name, or as the last one.
func enter(readme string, r row) (string, error) {
	rows, err := list(readme)
	if err != nil {
		return "", err
	}
	var table strings.Builder
	found := false
	for _, old := range rows {
		if old.name == r.name {
			old, found = r, true
		}
		fmt.Fprintln(&table, old)
	}
	if !found {
		fmt.Fprintln(&table, r)
	}
	before, rest, _ := strings.Cut(readme, tableBegin+tableHead)
	_, after, _ := strings.Cut(rest, tableEnd)
	return before + tableBegin + tableHead + table.String() + tableEnd + after, nil
}

// update writes the row into a file.
func update(file string, r row) error {
	readme, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	changed, err := enter(string(readme), r)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(changed), 0o666)
}
