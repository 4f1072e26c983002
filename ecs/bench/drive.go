package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/strata-go/strata/engine/abtest/settle"
)

// measureAll measures the rows in programs that differ in the order of their functions. The
// programs take turns with each row, so that an hour of the machine falls on all of them alike.
func measureAll(rows []row, o options) ([]result, error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	programs, err := build(dir, nil, o.placements)
	if err != nil {
		return nil, err
	}
	var results []result
	for i, r := range rows {
		fmt.Fprintf(os.Stderr, "\r\x1b[K%d of %d: %s", i+1, len(rows), r.name)
		if r.cores > runtime.NumCPU() {
			results = append(results, result{Row: r.name, Unit: r.unit, Missing: fmt.Sprintf("it needs %d processors", r.cores)})
			continue
		}
		res, err := o.measure(r, func(from, to int) (all []samples, err error) {
			if programs, err = build(dir, programs, to); err != nil {
				return nil, err
			}
			for _, p := range programs[from:to] {
				got, err := ask(p, r.name, o.rounds)
				if err != nil {
					return nil, err
				}
				all = append(all, got)
			}
			return all, nil
		})
		if err != nil {
			return nil, err
		}
		res.Run = runOf(r.limited(o.placements), r.limited(o.rounds))
		results = append(results, res)
	}
	fmt.Fprint(os.Stderr, "\r\x1b[K")
	return results, nil
}

// measure settles a row by the figures of the programs with the numbers that ask receives. A row that would fail
// -check is measured in as many programs again and judged by all of them. The reason is that of some two hundred
// comparisons a few are out of bounds by chance in every run. A row that is really behind stays so.
func (o options) measure(r row, ask func(from, to int) ([]samples, error)) (result, error) {
	n := r.limited(o.placements)
	all, err := ask(0, n)
	if err != nil {
		return result{}, err
	}
	res := settled(r, all)
	if !o.check || failures([]result{res}) == nil {
		return res, nil
	}
	more, err := ask(n, 2*n)
	if err != nil {
		return result{}, err
	}
	return settled(r, append(all, more...)), nil
}

// build makes programs until there are so many. The first one has the order of functions that the linker gives.
func build(dir string, programs []string, upTo int) ([]string, error) {
	for i := len(programs); i < upTo; i++ {
		fmt.Fprintf(os.Stderr, "\r\x1b[Kbuilding %d of %d", i+1, upTo)
		p, err := settle.Build{Package: "github.com/strata-go/strata/ecs/bench"}.Placement(filepath.Join(dir, "bench"), i)
		if err != nil {
			return nil, fmt.Errorf("building itself, which it can only within its module: %w", err)
		}
		programs = append(programs, p)
	}
	return programs, nil
}

// ask has a program measure a row.
func ask(program, row string, rounds int) (got samples, err error) {
	cmd := exec.Command(program, "-child", row, "-rounds", strconv.Itoa(rounds))
	var told bytes.Buffer
	cmd.Stderr = &told
	out, err := cmd.Output()
	if err != nil {
		return got, fmt.Errorf("measuring %q: %w\n%s", row, err, told.Bytes())
	}
	err = json.Unmarshal(out, &got)
	return got, err
}

// child measures the row of exactly this name and writes what it found.
func child(o options, out io.Writer) error {
	for _, r := range rows(o.limit()) {
		if r.name == o.child {
			return json.NewEncoder(out).Encode(r.measure(o.rounds))
		}
	}
	return fmt.Errorf("there is no row %q", o.child)
}
