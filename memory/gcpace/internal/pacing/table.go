package main

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// A cell is what one process plays.
type cell struct {
	Mode    string
	Live    int // MiB
	Garbage int // MB per level
	Levels  int
}

// A result is what it took.
type result struct {
	CPU    float64 // seconds, of all threads
	Cycles int     // collections
	InPlay int     // of these, inside a level and not asked for
	Peak   int     // MiB, the largest heap
}

const (
	plain = "plain Go"
	again = "plain again"
	paced = "paced"
	keep  = "Keep"
)

var modes = []string{plain, again, paced, keep}

// A runner plays a cell and ends it after limit.
type runner func(c cell, limit time.Duration) (result, error)

// compare prints a row for each of o.live, and one for the first of them without garbage.
func compare(out io.Writer, o options, run runner) error {
	var rows []cell
	for _, mib := range o.live {
		rows = append(rows, cell{Live: mib, Garbage: o.garbage, Levels: o.levels})
	}
	rows = append(rows, cell{Live: o.live[0], Levels: o.levels})
	fmt.Fprintf(out, "%d levels a process; medians of %d processes\n\n", o.levels, o.rounds)
	fmt.Fprintf(out, "%8s  %10s  %-11s  %8s  %14s  %8s  %11s  %7s  %8s\n",
		"live MiB", "garbage MB", "", "CPU ms", "spread", "to plain", "collections", "in play", "peak MiB")
	for _, row := range rows {
		all, err := measure(row, o, run)
		if err != nil {
			return err
		}
		show(out, row, all)
	}
	return nil
}

// measure plays a row, its columns taking turns, each round beginning with another.
func measure(row cell, o options, run runner) (map[string][]result, error) {
	all := map[string][]result{}
	for i := range o.rounds {
		for k := range modes {
			row.Mode = modes[(i+k)%len(modes)]
			r, err := run(row, o.limit)
			if err != nil {
				return nil, fmt.Errorf("%s with %d MiB live: %w", row.Mode, row.Live, err)
			}
			all[row.Mode] = append(all[row.Mode], r)
		}
	}
	return all, nil
}

func show(out io.Writer, row cell, all map[string][]result) {
	milliseconds := func(r result) float64 { return r.CPU * 1e3 }
	base := median(all[plain], milliseconds)
	for _, mode := range modes {
		cpu := sorted(all[mode], milliseconds)
		spread := fmt.Sprintf("%.0f to %.0f", cpu[0], cpu[len(cpu)-1])
		mid := median(all[mode], milliseconds)
		fmt.Fprintf(out, "%8d  %10d  %-11s  %8.0f  %14s  %8.2f  %11.0f  %7.0f  %8.0f\n", row.Live, row.Garbage, mode, mid, spread, mid/base,
			median(all[mode], func(r result) float64 { return float64(r.Cycles) }),
			median(all[mode], func(r result) float64 { return float64(r.InPlay) }),
			median(all[mode], func(r result) float64 { return float64(r.Peak) }))
	}
	fmt.Fprintln(out)
}

func sorted(rs []result, get func(r result) float64) (v []float64) {
	for _, r := range rs {
		v = append(v, get(r))
	}
	slices.Sort(v)
	return v
}

// median is the upper one of two.
func median(rs []result, get func(r result) float64) float64 { return sorted(rs, get)[len(rs)/2] }
