// Command hard prints what the planner reaches on public and made instances, beside the rule
// that inference engines use: the largest buffer first, at the lowest free offset.
//
//	go run ./memory/plan/internal/hard [-time 5s] [file.csv ...]
//
// Without files it takes MiniMalloc's, from memory/plan/testdata, and sets made like those of
// compilers. Heights are given as multiples of the load bound; "capacity" is the height that
// MiniMalloc's search is given, and reaches, on its files; "within" is how long Exact takes to
// get there. Files in the same format come with idealloc (github.com/cappadokes/idealloc).
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/plan/internal/hard/instances"
)

func main() {
	limit := flag.Duration("time", 5*time.Second, "the limit of Exact")
	data := flag.String("data", "memory/plan/testdata/minimalloc", "where MiniMalloc's instances are")
	flag.Parse()
	files := flag.Args()
	if len(files) == 0 {
		files, _ = filepath.Glob(filepath.Join(*data, "*.csv.gz"))
	}
	fmt.Printf("%-16s %7s %14s %7s  %-16s %-26s %-10s\n", "instance", "n", "bound", "rule", "Fast", "Exact", "within the capacity")
	for _, name := range files {
		set, err := instances.Load(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		row(filepath.Base(name), set, *limit)
	}
	if flag.NArg() == 0 {
		for _, n := range []int{1000, 10_000, 30_000, 100_000} {
			row("graph "+strconv.Itoa(n), instances.Graph(1, n), *limit)
		}
	}
}

func row(name string, set []plan.Buffer, limit time.Duration) {
	begin := time.Now()
	fast, err := plan.Fast(set)
	took := time.Since(begin)
	if err != nil {
		fmt.Fprintln(os.Stderr, name, err)
		os.Exit(1)
	}
	bound := float64(fast.Bound())
	first := "-" // the rule is the first attempt of Fast, and all of it where any plan is enough
	if p, err := plan.FastWithin(set, ^uintptr(0)); err == nil {
		first = fmt.Sprintf("%.4f", float64(p.Total())/bound)
	}
	begin = time.Now()
	exact, proof, err := plan.Exact(set, plan.Limits{Time: limit})
	spent := time.Since(begin)
	if err != nil {
		fmt.Fprintln(os.Stderr, name, err)
		os.Exit(1)
	}
	short := strings.TrimSuffix(name, ".csv.gz")
	fmt.Printf("%-16s %7d %14d %7s  %.4f %-9v %.4f %-9v %-9s", short, fast.Len(), fast.Bound(), first,
		fast.Ratio(), took.Round(100*time.Microsecond), exact.Ratio(), spent.Round(time.Millisecond), word(proof))
	if parts := strings.Split(short, "."); slices.Contains(parts, "1048576") {
		begin = time.Now()
		p, _, err := plan.Exact(set, plan.Limits{Time: limit, Capacity: 1 << 20})
		if err == nil && p.Total() <= 1<<20 {
			fmt.Printf(" %v", time.Since(begin).Round(time.Millisecond))
		} else {
			fmt.Printf(" missed: %.4f", float64(p.Total())/(1<<20))
		}
	}
	fmt.Println()
}

func word(p plan.Proof) string {
	if p.Optimal {
		return "minimal"
	}
	return fmt.Sprintf("%dk", p.Steps/1000)
}
