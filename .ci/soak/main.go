// Command soak runs random operations on every allocator type of memory/... and compares it with a model. The models
// were written from the documentation and share no code with memory/memtest:
//
//	go run -C .ci/soak . -ops 100000000 -state DIR -budget 2h
//	go run -C .ci/soak . -family tlsf,slab-geometric -ops 1000000 -seed 7
//	go run -C .ci/soak . -family tlsf -seed 7 -only 3          segment 3 of that run alone
//
// Operations are divided into segments. Each has a new instance with a random configuration, and its own seed. So a
// failure can be repeated with its segment alone, and an interrupted run continues with the next segment. The
// operations of several goroutines also follow from the seed; the results of the allocator depend on the scheduler.
//
// The exit status is 0 if no segment failed, 1 if one did or the state cannot be read or saved, and 2 for an invalid
// command line. Operations that the budget left out are listed at the end.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/strata-go/strata/engine/cmdline"
)

// options are what the command line says.
type options struct {
	family       string
	ops, segment int
	check, only  int
	seed         uint64
	dir          string
	budget       time.Duration
	subjects     []subject
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	st, err := loadState(o.dir, o.seed, o.ops, o.segment)
	if err != nil {
		fmt.Fprintln(stderr, "soak:", err)
		return 1
	}
	out := &cmdline.Output{Writer: stdout}
	return max(o.soak(st, out, stderr), out.Status("soak", nil, stderr))
}

func parse(args []string, out io.Writer) (o options, err error) {
	f := flag.NewFlagSet("soak", flag.ContinueOnError)
	f.StringVar(&o.family, "family", "all", "the `NAMES` of families, separated by commas; \"list\" lists them")
	f.IntVar(&o.ops, "ops", 1_000_000, "operations per family")
	f.IntVar(&o.segment, "segment", 1_000_000, "operations on one instance")
	f.IntVar(&o.check, "check", 1<<16, "call Check and compare the books every so many operations")
	f.IntVar(&o.only, "only", -1, "play only the segment of this `NUMBER`, and keep no state")
	f.Uint64Var(&o.seed, "seed", 1, "the seed of all segments")
	f.StringVar(&o.dir, "state", "", "keep what was reached in `DIR` and go on from there; empty keeps nothing")
	f.DurationVar(&o.budget, "budget", 0, "begin no segment after this long; 0 means no bound")
	if err := cmdline.Parse(f, args, out); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, cmdline.Wrong(f, out, fmt.Sprintf("unexpected argument %q; every option is a flag, see -help", f.Arg(0)))
	}
	if o.ops < 1 || o.segment < 1 || o.check < 1 || o.budget < 0 || o.only < -1 {
		return o, cmdline.Wrong(f, out, fmt.Sprintf("-ops %d -segment %d -check %d -budget %v -only %d; allowed are at least 1, 1, 1, 0 and -1", o.ops, o.segment, o.check, o.budget, o.only))
	}
	if o.only >= o.segments() {
		return o, cmdline.Wrong(f, out, fmt.Sprintf("-only %d; allowed are -1, and 0 to %d with -ops %d -segment %d", o.only, o.segments()-1, o.ops, o.segment))
	}
	if o.only >= 0 {
		o.dir = ""
	}
	if o.subjects, err = choose(o.family); err != nil {
		return o, cmdline.Wrong(f, out, err.Error())
	}
	return o, nil
}

// segments is the number of segments of a subject.
func (o *options) segments() int { return (o.ops-1)/o.segment + 1 }

// choose returns the subjects that names lists. A prefix selects all that begin with it: slab means every class
// table.
func choose(names string) (chosen []subject, err error) {
	all := subjects()
	if names == "all" {
		return all, nil
	}
	for name := range strings.SplitSeq(names, ",") {
		match := func(f subject) bool { return f.name == name || strings.HasPrefix(f.name, name+"-") }
		if !slices.ContainsFunc(all, match) {
			known := make([]string, len(all))
			for i, f := range all {
				known[i] = f.name
			}
			return nil, fmt.Errorf("-family %q: choose from all, %s", name, strings.Join(known, ", "))
		}
		for _, f := range all {
			if match(f) && !slices.ContainsFunc(chosen, func(c subject) bool { return c.name == f.name }) {
				chosen = append(chosen, f)
			}
		}
	}
	return chosen, nil
}

// soak plays the segments round by round, so that a small budget includes every subject, and prints a row for each.
func (o *options) soak(st *state, stdout, stderr io.Writer) int {
	began, failed := time.Now(), false
	for k := range o.segments() {
		for _, f := range o.subjects {
			p := st.of(f.name)
			over := o.budget > 0 && time.Since(began) > o.budget
			if p.Segments > k || p.Failed != "" || over || o.only >= 0 && k != o.only {
				continue
			}
			ops := min(o.segment, o.ops-k*o.segment)
			took, err := newSegment(f.name, o.seed, k).play(f.open, ops, o.check)
			if err != nil {
				p.Failed = fmt.Sprintf("-family %s -seed %d -ops %d -segment %d -check %d -only %d", f.name, o.seed, o.ops, o.segment, o.check, k)
				fmt.Fprintf(stderr, "soak: %s: %v\nagain: go run -C .ci/soak . %s\n\n", f.name, err, p.Failed)
			} else {
				p.Segments, p.Ops, p.Took = k+1, p.Ops+ops, p.Took+took
			}
			if err := st.save(); err != nil {
				fmt.Fprintln(stderr, "soak:", err)
				failed = true
			}
		}
	}
	return o.report(st, failed, stdout)
}

// report prints what was reached and what was not.
func (o *options) report(st *state, failed bool, out io.Writer) int {
	fmt.Fprintf(out, "%-20s %13s %8s  %s\n", "family", "operations", "ns/op", "")
	for _, f := range o.subjects {
		p, ns, verdict := st.of(f.name), "-", "ok"
		if p.Ops > 0 {
			ns = fmt.Sprintf("%.0f", float64(p.Took)/float64(p.Ops))
		}
		switch {
		case p.Failed != "":
			verdict, failed = "FAILED: "+p.Failed, true
		case p.Ops < o.ops && o.only < 0:
			verdict = fmt.Sprintf("not reached: %d operations of %d", o.ops-p.Ops, o.ops)
		}
		fmt.Fprintf(out, "%-20s %13d %8s  %s\n", f.name, p.Ops, ns, verdict)
	}
	if failed {
		return 1
	}
	return 0
}
