// Command mutate measures which changes the tests of this repository detect. It changes one operator, constant,
// condition or statement of a package at a time and runs the package's tests. A mutant that no test fails on shows a
// line that is not tested.
//
//	go run -C .ci/mutate . -pkg memory/slab,memory/pool   # 60 mutants of each
//	go run -C .ci/mutate . -n 0 -pkg memory/slab          # every mutant
//	go run -C .ci/mutate . -budget 10m                    # every package, ten minutes of it
//
// The sample is the same for the same sources and seed. Results are kept in a state folder, so an interrupted run
// continues where it stopped. A changed file of the package or of its tests invalidates its results, with -keep
// except the kills. Changes of other packages are not detected: after a change of memtest, for example, give -state a
// new folder.
//
// # Survivors
//
// A survivor needs a line in survivors/<package>.txt, with dots for the slashes of the package (memory.slab.txt):
//
//	heap.go Heap.grow | comparison | n < want => n <= want | #1 | equivalent: grow(want) at n == want adds nothing
//	heap.go Heap.trim | statement | h.trims++ => (deleted) | #1 | owed: TestTrim_CountsItself
//
// -write appends missing lines with the reason ?, for a person to fill in.
//
// The exit status is 1 if a survivor is unexplained, or if less than 95 % of the mutants that are not equivalent were
// killed. It is 2 if a baseline is not green or the tools fail. Mutants that the budget left out are reported and
// fail nothing.
//
// # What counts
//
// Generated files, files for other systems, and formatted messages have no mutants. A package without tests is judged
// by those of the nearest package above that imports it.
//
// A mutant is built with go test -c -overlay. It is run as short tests, as full tests, then as full tests with -tags
// memdebug, and with memfast if the code is for it, until one run fails. A run fails if it takes longer than five
// baselines and 15 s, or more than 6 GiB. A run that failed while the runner itself was stopped by a signal is
// repeated. A mutant that does not build is replaced by another. One on a line that no test reaches survives without
// a run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/strata-go/strata/engine/cmdline"
)

// options are the flags.
type options struct {
	root    string
	pkgs    string
	n       int
	seed    uint64
	state   string
	budget  time.Duration
	least   time.Duration
	workers int
	keep    bool
	write   bool
	verbose bool
}

func parse(args []string, fault io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("mutate", flag.ContinueOnError)
	f.StringVar(&o.root, "root", "", "the repository; default: the parent of the .ci that this runs in")
	f.StringVar(&o.pkgs, "pkg", "", "packages relative to the root, several with commas; default: memory/... and ecs")
	f.IntVar(&o.n, "n", 60, "mutants a package; 0 means all")
	f.Uint64Var(&o.seed, "seed", 1, "chooses the sample")
	f.StringVar(&o.state, "state", "", "folder of the results; default: strata-mutate in the user's cache")
	f.DurationVar(&o.budget, "budget", 0, "begin no mutant after this long; 0 means no end")
	f.DurationVar(&o.least, "timeout", least, "least time that a run is given; five baselines if that is more")
	f.IntVar(&o.workers, "p", 1, "mutants at a time")
	f.BoolVar(&o.keep, "keep", false, "kills stay valid when the package has changed, survivors are run again")
	f.BoolVar(&o.write, "write", false, "append unexplained survivors to their file")
	f.BoolVar(&o.verbose, "v", false, "print each mutant and what killed it")
	if err := cmdline.Parse(f, args, fault); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, cmdline.Wrong(f, fault, fmt.Sprintf("unexpected argument %q: packages are named with -pkg", f.Arg(0)))
	}
	if o.n < 0 || o.workers < 1 || o.budget < 0 || o.least <= 0 {
		return o, cmdline.Wrong(f, fault, fmt.Sprintf("-n %d -p %d -budget %v -timeout %v; allowed are at least 0, at least 1, at least 0 and above 0", o.n, o.workers, o.budget, o.least))
	}
	var err error
	if o.root == "" {
		if o.root, err = findRoot(); err != nil {
			return o, err
		}
	}
	if o.root, err = filepath.Abs(o.root); err != nil {
		return o, err
	}
	if o.state == "" {
		o.state = defaultState(o.root)
	}
	return o, nil
}

func main() {
	o, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case errors.Is(err, cmdline.ErrUsage): // the reason is printed
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	tables, err := runAll(ctx, o, os.Stdout)
	fmt.Print("\n", table(tables))
	faults := verdict(tables)
	if len(faults) > 0 {
		fmt.Println("\n" + strings.Join(faults, "\n"))
	}
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	case len(faults) > 0:
		os.Exit(1)
	}
}
