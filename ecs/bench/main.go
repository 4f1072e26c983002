// Command bench compares package ecs with Ark, Donburi and loops over slices written by hand: the same work, on the
// same data, in the same process.
//
//	go run .                               all rows as a table, except long ones; some minutes
//	go run . -rows "walk 1000,get"         rows whose names begin with one of these
//	go run . -rounds 20 -placements 6      more of each
//	go run . -check                        exit 1 if a row is behind Ark or a goal is missed
//	go run . -long                         also the rows of a million targets and nodes, as -check
//	go run . -svg FILE -json FILE          a chart, and every figure
//	go run . -md FILE                      the table, into a Markdown file that has a place for it
//	go run . -from FILE                    the figures of an earlier -json; with -rows measures those rows again
//	go run . -short                        seconds: checks that every side does the same work, times nothing
//
// # How a row is settled
//
// The command builds itself several times, each time with the functions of the program in another order
// (-ldflags=-randlayout). The reason is that the address of a loop changes its time by more than most rows differ.
// Each of these programs times every side of a row in turn, round by round, after a collection. Strata takes part
// twice, in two worlds. The ratio of the two, called A/A, is the error of the machine.
//
// A ratio is the median over the programs of Strata's median to the other side's. The A/A spread is the largest
// deviation of Strata's ratio to itself from 1. It includes the ratio in each program. It also includes the median
// over the programs, with the programs of one side shifted against those of the other in every way. A ratio within
// the spread is a draw.
//
// If the system gave the processor to another program during a figure, the figure is taken again, up to four times.
// For the worst of 64 creations the thread's own time counts then. In the rows of two cores this cannot be detected:
// a figure is the minimum of twelve, and the sides take turns for each.
//
// A side that fails, for example because a world has no memory left, has no figure. If it is Strata's, the row is a
// loss to every side that did the work, and each of its goals is missed.
//
// Rows of memory count both heaps: the live Go heap after a collection, and the bytes that the world has committed
// outside of it. Rows that build a large world once take the processor time of the whole process, so that the
// collector's work counts and other programs do not.
//
// "ark sized" is Ark with capacities chosen for the row, such as NewWorld(8) if an archetype has one entity. It is
// shown, but -check judges Ark with its defaults.
//
// Each side has its default configuration, with its loop in the form that its documentation recommends. The exceptions
// are in Strata's worlds: the address space of the heap, MaxEntities of large worlds, and the granule of the heap. It
// is 1 KiB, as that of the large tier of a tiers.Manager. Loops over columns and slices are one function for all.
// Goroutines get one processor, except in the rows of two cores.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/strata-go/strata/engine/abtest/settle"
	"github.com/strata-go/strata/engine/atomicfile"
	"github.com/strata-go/strata/engine/cmdline"
)

func main() {
	out := &cmdline.Output{Writer: os.Stdout}
	os.Exit(out.Status("bench", run(os.Args[1:], out), os.Stderr))
}

// options are what the command line says.
type options struct {
	rows               string
	rounds, placements int
	check, short, long bool
	svg, json, md      string
	from               string
	child              string
}

// parse reads the command line. What is wrong with it goes to fault.
func parse(args []string, fault io.Writer) (o options, err error) {
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.StringVar(&o.rows, "rows", "", "`beginnings` of the names of rows, with commas between them; all when empty")
	fs.IntVar(&o.rounds, "rounds", 10, "how often each side of a row is timed in each program")
	fs.IntVar(&o.placements, "placements", 5, "programs that differ in the order of their functions")
	fs.BoolVar(&o.check, "check", false, "exit 1 where a row is behind Ark outside the A/A spread, or a goal is missed; such a row is measured in twice as many programs")
	fs.BoolVar(&o.long, "long", false, "measure the rows of a million targets and nodes, too, for which Ark takes 7 GB; -check and -rows with the name of such a row do so")
	fs.BoolVar(&o.short, "short", false, "time nothing: check that the sides of each row do the same work, on small worlds")
	fs.StringVar(&o.svg, "svg", "", "draw the rows into `file`")
	fs.StringVar(&o.json, "json", "", "write every figure into `file`, - for the output in place of the table")
	fs.StringVar(&o.md, "md", "", "put the table into this Markdown `file`, between the lines that mark its place")
	fs.StringVar(&o.from, "from", "", "take the figures of an earlier -json `file`, and measure those of -rows alone, if any")
	fs.StringVar(&o.child, "child", "", "measure one row in this program; the command runs itself so")
	if err := cmdline.Parse(fs, args, fault); err != nil {
		return o, err
	}
	if fs.NArg() > 0 || o.rounds < 1 || o.placements < 1 {
		return o, cmdline.Wrong(fs, fault, fmt.Sprintf("-rounds %d -placements %d and %d more arguments; allowed are at least 1, 1 and none", o.rounds, o.placements, fs.NArg()))
	}
	return o, nil
}

func run(args []string, out io.Writer) error {
	o, err := parse(args, os.Stderr)
	if err != nil {
		return err
	}
	if o.child != "" {
		return child(o, out)
	}
	chosen := settle.Choose(rows(o.limit()), o.rows, row.named)
	if len(chosen) == 0 {
		return fmt.Errorf("no row begins with %q", o.rows)
	}
	if o.short {
		return same(chosen, out)
	}
	if o.rows == "" && !o.long && !o.check {
		chosen = slices.DeleteFunc(chosen, func(r row) bool { return r.long })
	}
	files := slices.DeleteFunc([]string{o.json, o.md, o.svg}, func(name string) bool { return name == "-" })
	if err := errors.Join(cmdline.Writable(files...), settle.Marked(o.md, tableBegins, tableEnds)); err != nil {
		return err
	}
	results, err := o.results(chosen)
	if err != nil {
		return err
	}
	return o.report(results, out)
}

// results measures the rows, or takes them from an earlier run where that is asked for.
func (o options) results(chosen []row) (results []result, err error) {
	var old []result
	if o.from != "" {
		if old, err = earlier(o.from); err != nil || o.rows == "" {
			return old, err
		}
	}
	if results, err = measureAll(chosen, o); err == nil && o.from != "" {
		results = merge(rows(o.limit()), old, results)
	}
	return results, err
}

// limit is the largest number of entities in a world.
func (o options) limit() int {
	if o.short {
		return 4 << 10
	}
	return 1 << 30
}

// same runs every side of every row and compares what they have done.
func same(rows []row, out io.Writer) error {
	var wrong []error
	for _, r := range rows {
		if err := r.same(); err != nil {
			wrong = append(wrong, err)
		}
	}
	if len(wrong) == 0 {
		fmt.Fprintf(out, "%d rows: every side does the same work\n", len(rows))
	}
	return errors.Join(wrong...)
}

// report writes all files that can be written, then the table, and is the verdict of -check. A pipe that was closed ends
// the process when the table is printed.
func (o options) report(results []result, out io.Writer) error {
	var errs []error
	if o.json != "" {
		errs = append(errs, writeFile(o.json, out, func(w io.Writer) error {
			e := json.NewEncoder(w)
			e.SetIndent("", "\t")
			return e.Encode(results)
		}))
	}
	if o.md != "" {
		errs = append(errs, markdown(o.md, results))
	}
	if o.svg != "" {
		errs = append(errs, writeFile(o.svg, out, func(w io.Writer) error { return svg(w, results) }))
	}
	if o.json != "-" {
		table(out, results, o)
	}
	if o.check {
		errs = append(errs, failures(results))
	}
	return errors.Join(errs...)
}

func writeFile(name string, out io.Writer, write func(io.Writer) error) error {
	if name == "-" {
		return write(out)
	}
	return atomicfile.Write(name, write)
}
