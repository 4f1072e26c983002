// Command pacing prints what a manager's pacing of the collector costs and saves a host: CPU
// time, collections and the largest heap of a program that holds so much live and makes so much
// garbage in each level, with plain Go (twice: the second column is the noise), with a manager,
// and with one that has KeepGC.
//
//	go run ./memory/tiers/internal/pacing [-rounds 5] [-levels 6] [-live 16,100,400,1000] [-garbage 200]
//
// Every cell is a process of its own with GOGC=100 and GOMAXPROCS=2; the columns of a row take
// turns. With the defaults it takes some minutes, and up to 3 GiB of memory.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

func main() {
	rounds := flag.Int("rounds", 5, "processes per cell")
	levels := flag.Int("levels", 6, "levels that each process plays")
	live := flag.String("live", "16,100,400,1000", "MiB of live objects with pointers, a row each")
	garbage := flag.Int("garbage", 200, "MB of garbage in small objects per level; a row without any is added")
	child := flag.String("child", "", "play one cell, given as JSON, and print what it took; for the command itself")
	flag.Parse()
	var err error
	if *child != "" {
		err = play(*child)
	} else {
		err = compare(*live, *garbage, *levels, *rounds)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pacing:", err)
		os.Exit(1)
	}
}

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
	plain  = "plain Go"
	again  = "plain again"
	strata = "Strata"
	keep   = "KeepGC"
)

var modes = []string{plain, again, strata, keep}

// A child has this long. On a quiet machine the slowest takes some seconds.
const childSeconds = 300

func compare(live string, garbage, levels, rounds int) error {
	if rounds < 1 || levels < 1 || garbage < 0 || garbage > 1000 {
		return errors.New("at least one round and one level, and 0 to 1,000 MB of garbage, are needed")
	}
	var rows []cell
	for s := range strings.SplitSeq(live, ",") {
		mib, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || mib < 0 || mib > 1200 {
			return fmt.Errorf("-live %q: MiB from 0 to 1200 are possible, separated by commas", s)
		}
		rows = append(rows, cell{Live: mib, Garbage: garbage, Levels: levels})
	}
	rows = append(rows, cell{Live: rows[0].Live, Levels: levels})
	fmt.Printf("%d levels a process; medians of %d processes\n\n", levels, rounds)
	fmt.Printf("%8s  %10s  %-11s  %8s  %14s  %8s  %11s  %7s  %8s\n",
		"live MiB", "garbage MB", "", "CPU ms", "spread", "to plain", "collections", "in play", "peak MiB")
	for _, row := range rows {
		all, err := measure(row, rounds)
		if err != nil {
			return err
		}
		print(row, all)
	}
	return nil
}

func print(row cell, all map[string][]result) {
	base := median(all[plain], func(r result) float64 { return r.CPU })
	for _, mode := range modes {
		cpu := sorted(all[mode], func(r result) float64 { return r.CPU * 1e3 })
		mid := cpu[len(cpu)/2]
		spread := fmt.Sprintf("%.0f to %.0f", cpu[0], cpu[len(cpu)-1])
		of := func(get func(r result) int) float64 {
			return median(all[mode], func(r result) float64 { return float64(get(r)) })
		}
		fmt.Printf("%8d  %10d  %-11s  %8.0f  %14s  %8.2f  %11.0f  %7.0f  %8.0f\n", row.Live, row.Garbage, mode, mid, spread, mid/base/1e3,
			of(func(r result) int { return r.Cycles }), of(func(r result) int { return r.InPlay }), of(func(r result) int { return r.Peak }))
	}
	fmt.Println()
}

// measure plays a row, its columns taking turns, each round beginning with another.
func measure(row cell, rounds int) (map[string][]result, error) {
	all := map[string][]result{}
	for i := range rounds {
		for k := range modes {
			row.Mode = modes[(i+k)%len(modes)]
			r, err := run(row)
			if err != nil {
				return nil, fmt.Errorf("%s with %d MiB live: %w", row.Mode, row.Live, err)
			}
			all[row.Mode] = append(all[row.Mode], r)
		}
	}
	return all, nil
}

func run(c cell) (r result, err error) {
	arg, err := json.Marshal(c)
	if err != nil {
		return r, err
	}
	cmd := exec.Command(os.Args[0], "-child", string(arg))
	cmd.Env = append(os.Environ(), "GOGC=100", "GOMEMLIMIT=off", "GOMAXPROCS=2")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(out, &r)
}

func sorted(rs []result, get func(r result) float64) (v []float64) {
	for _, r := range rs {
		v = append(v, get(r))
	}
	slices.Sort(v)
	return v
}

func median(rs []result, get func(r result) float64) float64 { return sorted(rs, get)[len(rs)/2] }
