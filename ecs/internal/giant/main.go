// Command giant plays a world of a million entities beside a model that knows nothing of archetypes: entities
// come and go, change what they have and whom they relate to, one by one, in batches and by commands;
// observers keep tallies; systems run on several workers; memory runs short every third tick. World and
// model are compared in full every few ticks.
//
//	go run ./ecs/internal/giant [-entities 1000000] [-for 10m] [-seed 1] [-every 10]
//
// It prints what was done, and exits 1 with the first difference and the tick that it is of.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "giant:", err)
		}
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	fs := flag.NewFlagSet("giant", flag.ContinueOnError)
	entities := fs.Int("entities", 1_000_000, "as many as the world is to hold, from 10")
	long := fs.Duration("for", 10*time.Minute, "how long to play")
	seed := fs.Uint64("seed", 1, "of everything that is drawn")
	every := fs.Int("every", 10, "ticks from one comparison to the next")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() > 0 || *entities < 10 || *entities > 1<<26 || *every < 1 || *long <= 0 {
		return fmt.Errorf("-entities %d -for %v -every %d %v: entities from 10 to %d, a time and ticks above 0, and no more", *entities, *long, *every, fs.Args(), 1<<26)
	}
	begun := time.Now()
	c, most, err := play(*entities, *seed, *every, func(int) bool { return time.Since(begun) < *long })
	fmt.Fprintf(out, "%d entities at most; %v; %.0f s\n", most, c, time.Since(begun).Seconds())
	return err
}

// play plays while more says so of the ticks that are over, and returns what was done and the most
// entities there were.
func play(entities int, seed uint64, every int, more func(ticks int) bool) (c counts, most int, err error) {
	g, err := newGiant(entities, seed)
	if err != nil {
		return c, 0, err
	}
	for err == nil && more(g.counts.Ticks) {
		if err = g.step(); err == nil && g.counts.Ticks%every == 0 {
			if err = g.verify(); err != nil {
				err = fmt.Errorf("behind tick %d: %w", g.tick, err)
			}
		}
		most = max(most, len(g.recs))
	}
	if err == nil {
		err = g.verify()
	}
	return g.counts, most, errors.Join(err, g.close())
}
