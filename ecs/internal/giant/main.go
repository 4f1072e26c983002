// Command giant runs a world of a million entities and a model without archetypes, and compares them completely every
// few ticks.
//
//	go run ./ecs/internal/giant [-entities 1000000] [-for 10m] [-seed 1] [-every 10]
//
// Entities are created, destroyed, and change their components and relations: one by one, in batches and by commands.
// Observers count, systems run on several workers, and allocations fail in every third tick.
//
// It prints the numbers of operations. The exit status is 1 at the first difference, which is printed with its tick,
// and 2 for an invalid command line.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/strata-go/strata/engine/cmdline"
)

func main() {
	os.Exit(command(os.Args[1:], os.Stdout, os.Stderr))
}

// command returns the exit status: 1 if world and model differ, 2 for an invalid command line.
func command(args []string, out, fault io.Writer) int {
	kept := &cmdline.Output{Writer: out}
	o, err := parse(args, fault)
	if err == nil {
		err = o.run(kept)
	}
	return kept.Status("giant", err, fault)
}

// options are the flags.
type options struct {
	entities, every int
	long            time.Duration
	seed            uint64
}

func parse(args []string, fault io.Writer) (o options, err error) {
	fs := flag.NewFlagSet("giant", flag.ContinueOnError)
	fs.IntVar(&o.entities, "entities", 1_000_000, "as many as the world is to hold, from 10")
	fs.DurationVar(&o.long, "for", 10*time.Minute, "how long to play")
	fs.Uint64Var(&o.seed, "seed", 1, "of everything that is drawn")
	fs.IntVar(&o.every, "every", 10, "ticks from one comparison to the next")
	if err := cmdline.Parse(fs, args, fault); err != nil {
		return o, err
	}
	problem := ""
	switch {
	case fs.NArg() > 0:
		problem = fmt.Sprintf("unexpected argument %q; every option is a flag", fs.Arg(0))
	case o.entities < 10 || o.entities > 1<<26:
		problem = fmt.Sprintf("-entities %d: allowed are 10 to %d", o.entities, 1<<26)
	case o.every < 1:
		problem = fmt.Sprintf("-every %d: at least 1 is needed", o.every)
	case o.long <= 0:
		problem = fmt.Sprintf("-for %v: a time above 0 is needed", o.long)
	}
	if problem != "" {
		return o, cmdline.Wrong(fs, fault, problem)
	}
	return o, nil
}

func (o options) run(out io.Writer) error {
	begun := time.Now()
	c, most, err := play(o.entities, o.seed, o.every, func(int) bool { return time.Since(begun) < o.long })
	fmt.Fprintf(out, "%d entities at most; %v; %.0f s\n", most, c, time.Since(begun).Seconds())
	return err
}

// play runs ticks while more returns true for their number. It returns the counts of operations and the most
// entities.
func play(entities int, seed uint64, every int, more func(ticks int) bool) (c counts, most int, err error) {
	g, err := newGiant(entities, seed)
	if err != nil {
		return c, 0, err
	}
	for err == nil && more(g.counts.Ticks) {
		if err = g.step(); err == nil && g.counts.Ticks%every == 0 {
			if err = g.verify(); err != nil {
				err = fmt.Errorf("after tick %d: %w", g.tick, err)
			}
		}
		most = max(most, len(g.recs))
	}
	if err == nil {
		err = g.verify()
	}
	return g.counts, most, errors.Join(err, g.close())
}
