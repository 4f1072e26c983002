// Command ark is a game with the entities of Ark. Large data and data of one frame lie in memory of Strata: textures,
// the list of shapes to draw and the list of entities to remove.
//
//	cd demo/dropin/ark && go run . -for 5s
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/strata-go/strata/engine/cmdline"
	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/tiers"
)

func main() {
	f := flag.NewFlagSet("ark", flag.ContinueOnError)
	length := f.Duration("for", 5*time.Second, "how long it plays")
	err := cmdline.Parse(f, os.Args[1:], os.Stderr)
	switch {
	case err != nil:
	case *length < 0 || f.NArg() > 0:
		err = cmdline.Wrong(f, os.Stderr, fmt.Sprintf("-for %v and %d more arguments; allowed are at least 0, and none", *length, f.NArg()))
	default:
		err = play(*length, os.Stdout)
	}
	os.Exit(cmdline.Status("ark", err, os.Stderr))
}

func play(length time.Duration, w io.Writer) error {
	m, err := tiers.New(tiers.Config{Tags: true})
	if err != nil {
		return err
	}
	defer m.Close()
	watch, err := meter.New(m, meter.Config{})
	if err != nil {
		return err
	}
	if err := m.BeginLevel(); err != nil {
		return err
	}
	g, err := newGame(m)
	if err != nil {
		return err
	}
	watch.Monitor("entities", "", func() float64 { return float64(g.count()) })
	clock := time.NewTicker(time.Second / 60)
	for began := time.Now(); err == nil && time.Since(began) < length; <-clock.C {
		if err = m.BeginFrame(); err == nil {
			err = g.step()
			watch.Frame() // always at the same place, best right before EndFrame
			err = errors.Join(err, m.EndFrame())
		}
	}
	err = errors.Join(err, watch.WriteText(w))
	g.unload() // what is left at the end of the level is a leak, and named by its tag
	leaks, end := m.EndLevel()
	fmt.Fprintf(w, "%d drawn, %d removed; %v\n", g.drawn, g.removed, leaks)
	return errors.Join(err, end)
}
