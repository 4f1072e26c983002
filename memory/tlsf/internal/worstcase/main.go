// Command worstcase runs allocations and frees on a fragmented heap of a given size inside one
// function, Measured, so that a tool that counts instructions can count those alone. See
// README.md of package tlsf.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/strata-go/strata/engine/cmdline"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tlsf"
)

func main() { os.Exit(command(nil, os.Args[1:], os.Stdout, os.Stderr)) }

// command returns the exit status: 1 where the heap fails, 2 for wrong usage.
func command(src page.Source, args []string, out, fault io.Writer) int {
	kept := &cmdline.Output{Writer: out}
	o, err := parse(args, fault)
	if err == nil {
		quiet()
		err = run(src, kept, o)
	}
	return kept.Status("worstcase", err, fault)
}

// options are the flags.
type options struct {
	mib   uint
	pairs int
	op    string
}

func parse(args []string, usage io.Writer) (o options, err error) {
	fs := flag.NewFlagSet("worstcase", flag.ContinueOnError)
	fs.UintVar(&o.mib, "mib", 1, "size of the heap in MiB, from 1 to 2047")
	fs.IntVar(&o.pairs, "pairs", 10_000, "pairs of Alloc and Free to run in Measured, an even number")
	fs.StringVar(&o.op, "op", "churn", "churn: replace a random block; worst: split once, merge on both sides")
	if err := cmdline.Parse(fs, args, usage); err != nil {
		return o, err
	}
	if fs.NArg() > 0 || o.mib < 1 || o.mib > 2047 || o.pairs < 2 || o.pairs%2 != 0 || ops[o.op] == nil {
		return o, cmdline.Wrong(fs, usage, fmt.Sprintf("-mib %d -pairs %d -op %q and %d more arguments; allowed are 1 to 2047 MiB, an even number of pairs, churn or worst, and none",
			o.mib, o.pairs, o.op, fs.NArg()))
	}
	return o, nil
}

// quiet keeps away what would be counted beside the heap's work, or on another thread.
func quiet() {
	runtime.LockOSThread()
	debug.SetGCPercent(-1)
}

// An op runs n pairs of Alloc and Free.
type op func(g *ground, n int)

var ops = map[string]op{"churn": (*ground).churn, "worst": (*ground).worst}

func run(src page.Source, out io.Writer, o options) error {
	g, err := prepare(src, o)
	if err != nil {
		return err
	}
	before := g.h.Stats().Allocs
	Measured(ops[o.op], g, o.pairs)
	s := g.h.Stats()
	fmt.Fprintf(out, "%s: heap %d MiB, %d live blocks, %d pairs in Measured\n", o.op, s.Reserved>>20, s.Live, s.Allocs-before)
	return g.h.Close()
}

// warmPairs run in front of what is measured, so that the descriptors exist.
const warmPairs = 1000

// prepare makes the heap, fragments it, and runs the pairs that are not measured.
func prepare(src page.Source, o options) (*ground, error) {
	h, err := tlsf.New(src, config(o.mib))
	if err != nil {
		return nil, err
	}
	g := fragment(h)
	ops[o.op](g, warmPairs)
	return g, nil
}

// config has a descriptor for every block that can be, for they are not to be doubled while
// instructions are counted.
func config(mib uint) tlsf.Config {
	return tlsf.Config{Reserve: uintptr(mib) << 20, Blocks: int(mib) << 11}
}

// Measured is what the tool counts.
//
//go:noinline
func Measured(f op, g *ground, n int) { f(g, n) }
