// Command hard compares the planner, on public and generated instances, with the rule of inference engines: the
// largest buffer first, at the lowest free offset.
//
//	go run ./memory/plan/internal/hard [-time 5s] [file.csv ...]
//
// Without files it takes those of MiniMalloc, from memory/plan/testdata, and generated sets like those of compilers.
// Heights are multiples of the load bound. The capacity is the height that MiniMalloc's search is given, and reaches,
// on its files. The last column is the time that Exact takes to reach it. Files in the same format come with idealloc
// (github.com/cappadokes/idealloc).
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/strata-go/strata/engine/cmdline"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/plan/internal/hard/instances"
)

func main() { os.Exit(command(os.Args[1:], os.Stdout, os.Stderr)) }

// command returns the exit status: 1 where an instance cannot be read or planned, 2 for wrong
// usage.
func command(args []string, out, fault io.Writer) int {
	o, err := parse(args, fault)
	if err == nil {
		err = run(out, o)
	}
	return cmdline.Status("hard", err, fault)
}

// options are the flags.
type options struct {
	limit time.Duration
	data  string
	files []string
}

func parse(args []string, usage io.Writer) (o options, err error) {
	fs := flag.NewFlagSet("hard", flag.ContinueOnError)
	fs.DurationVar(&o.limit, "time", 5*time.Second, "the limit of Exact; 0: as many steps as it takes by itself, the same on every machine")
	fs.StringVar(&o.data, "data", "memory/plan/testdata/minimalloc", "where MiniMalloc's instances are")
	if err := cmdline.Parse(fs, args, usage); err != nil {
		return o, err
	}
	if o.limit < 0 {
		return o, cmdline.Wrong(fs, usage, fmt.Sprintf("-time %v; allowed is a time, or 0 for as many steps as Exact takes by itself", o.limit))
	}
	o.files = fs.Args()
	return o, nil
}

// graphs are how many buffers the sets have that are made.
var graphs = []int{1000, 10_000, 30_000, 100_000}

// run prints a row for each file, or for each of MiniMalloc's and each of graphs.
func run(out io.Writer, o options) error {
	files, made := o.files, []int(nil)
	if len(files) == 0 {
		made = graphs
		var err error
		if files, err = filepath.Glob(filepath.Join(o.data, "*.csv.gz")); err != nil {
			return err
		}
		if len(files) == 0 {
			return fmt.Errorf("-data %s: there is no .csv.gz", o.data)
		}
	}
	fmt.Fprintln(out, head)
	for _, name := range files {
		set, err := instances.Load(name)
		if err != nil {
			return err
		}
		if err := play(out, filepath.Base(name), set, o.limit); err != nil {
			return err
		}
	}
	for _, n := range made {
		if err := play(out, "graph "+strconv.Itoa(n), instances.Graph(1, n), o.limit); err != nil {
			return err
		}
	}
	return nil
}

func play(out io.Writer, name string, set []plan.Buffer, limit time.Duration) error {
	r, err := measure(name, set, plan.Exact, plan.Limits{Time: limit})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	_, err = fmt.Fprintln(out, r)
	return err
}
