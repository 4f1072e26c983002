// Command sprites compares slices, pointers and a pool for moving sprites, some of which end in each tick. It also makes
// the list to draw:
//
//	slice     values in a slice; the last one takes the place of one that ends
//	pointers  a Go object for each, in a slice of pointers
//	strata    a pool with handles; the list lies in frame memory
//
// For the first two variants the list is a slice that is reused. The command runs all variants in turn in one process,
// and slice twice. A ratio between the quartiles of slice against itself is a tie. There is no window:
//
//	go run ./demo/dropin/sprites
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"text/tabwriter"

	"github.com/strata-go/strata/engine/abtest"
	"github.com/strata-go/strata/engine/abtest/settle"
	"github.com/strata-go/strata/engine/cmdline"
)

func main() {
	f := flag.NewFlagSet("sprites", flag.ContinueOnError)
	count := f.Int("sprites", 20_000, "`N` sprites")
	rounds := f.Int("rounds", 40, "`N` rounds of sixty ticks each")
	err := cmdline.Parse(f, os.Args[1:], os.Stderr)
	switch {
	case err != nil:
	case *count < 1 || *rounds < 1 || f.NArg() > 0:
		err = cmdline.Wrong(f, os.Stderr, fmt.Sprintf("-sprites %d -rounds %d and %d more arguments; allowed are at least 1, 1 and none", *count, *rounds, f.NArg()))
	default:
		err = compare(*count, *rounds, os.Stdout)
	}
	os.Exit(cmdline.Status("sprites", err, os.Stderr))
}

const ticks = 60 // of a round

func compare(count, rounds int, out io.Writer) error {
	names := []string{"slice", "slice A/A", "pointers", "strata"}
	scenes, closeAll, err := newScenes(count)
	if err != nil {
		return err
	}
	defer closeAll()
	mallocs := make([]uint64, len(scenes))
	var sides []abtest.Side
	for i, s := range scenes {
		sides = append(sides, abtest.Side{Name: names[i], Run: func() {
			before := objects()
			for range ticks {
				s.tick()
			}
			mallocs[i] += objects() - before
		}})
	}
	f := abtest.Measure(rounds, runtime.GC, sides...)
	fmt.Fprintf(out, "%d sprites, medians and quartiles of %d rounds of %d ticks; %s\n\n", count, rounds, ticks, settle.Machine())
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tns for a sprite\tratio to slice\tobjects a tick")
	low, _, high := f.Ratio(1, 0)
	for i, s := range scenes {
		l, m, h := f.Took(i)
		each := float64(ticks * count)
		fmt.Fprintf(w, "%s\t%.2f (%.2f–%.2f)\t%s\t%.1f\n", names[i], m/each, l/each, h/each, verdict(f, i, low, high), float64(mallocs[i])/float64(rounds*ticks))
		if s.sum() != scenes[0].sum() {
			return fmt.Errorf("%s has other sprites than slice", names[i])
		}
	}
	return w.Flush()
}
