// Command bench compares the allocators of Strata with those of C and Go: the same workloads on the same sequences, each
// in processes of its own.
//
//	go run -C memory/bench .                        every workload as a table; about an hour on two cores
//	go run -C memory/bench . -rows "W1,W4"          workloads whose names begin with one of these
//	go run -C memory/bench . -rounds 20 -placements 8
//	go run -C memory/bench . -check                 only the judged ratios; exit 1 if one exceeds its bound, or a Go
//	                                                peer is not behind
//	go run -C memory/bench . -all                   also growth with live blocks, and calls through wrappers
//	go run -C memory/bench . -state FILE            saves each workload's result in FILE, and resumes from it; -all has
//	                                                a file in the temporary folder if -state is missing
//	go run -C memory/bench . -go127                 also four Go allocators built by go1.27.3
//	go run -C memory/bench . -peer NAME=FILE.so     also another malloc library; shown and not judged
//	go run -C memory/bench . -md FILE               writes the tables between the lines of a Markdown file that mark their place
//	go run -C memory/bench . -json FILE             writes all figures
//	go run -C memory/bench . -short                 takes seconds: verifies that every side does the same work, and times nothing
//
// # Sides
//
// The folder driver has a Go program that runs one workload with one allocator. A build tag selects the allocator, so
// the loops call its methods directly and a fast path inlines. The folder c has the same program for malloc, built by
// cc -O2 -fno-builtin -fno-plt. It is linked with the static libraries of Debian's packages libc6-dev, libjemalloc-dev
// and libgoogle-perftools-dev. Debian has no archive of mimalloc: libmimalloc2.0 serves malloc by LD_PRELOAD, as the
// libraries of -peer do. Compared with dynamic libraries, static calls took 28 % less time in W2 with tcmalloc, 26 % less
// with jemalloc, and 3 to 7 % less in other workloads. The C program reports which library served malloc. If it is
// another one than intended, the command fails.
//
// Strata has its default configuration, with three exceptions. A slab.Heap has MaxSize 64 KiB in workloads with blocks
// above 4 KiB. Quick lists of a tlsf.Heap, and prefaulted pages of 2 MiB, are in the name of the side that uses them.
// Workloads with more live bytes than the default reservation raise Reserve. The build with -tags memfast is a side of
// its own.
//
// Free of Strata gets the size of the block, as its contract has it, and free of C does not. In W14 a resize in the Go
// runtime allocates and copies.
//
// Programs of both languages draw sizes, indices and permutations before the clock starts. They report a checksum of
// what they drew and of what they read back from blocks. The command refuses to compare sides with different checksums.
//
// # How a ratio is settled
//
// Each Go program is built several times, each time with its functions in another order (-ldflags=-randlayout). Round r
// uses placement r modulo the number of placements. In a round each side runs once in a fresh process. The process is
// bound to one processor, in W8 and in the row "two" to two processors. It measures 11 repetitions after 3 that do not
// count, fewer where a repetition takes long, and reports the median. If the kernel gave the processor to another
// thread during a repetition, the process measures it again, in both languages: at most 100 times, or for 1.5 seconds.
//
// In each round Strata's figure is divided by the figure of the best C library, which is the one with the lowest median
// of all rounds. The ratio is the median of these quotients. A judged side runs twice in each round. The ratio of its
// two figures, A/A, is the error of the machine. A difference within the spread of A/A is a draw.
//
// With -check each Go peer but the reused slices must be behind the first judged side, too, outside of the spread. That
// side is a default build. Memory is not compared in this way.
//
// # Traces
//
// W14 replays the traces of real programs in the folder traces. The command makes a flat program of each trace, see
// [trace.Program], and both drivers run it in a loop of equal cost. The sides "loop, Go" and "loop, C" have an allocator
// that does nothing. Their time is subtracted from the times of the other sides in their language. A driver writes the
// first word of each block that it allocates. In the tests of memory it writes the whole block, and the resident bytes
// are those at the peak. The time is the sum over slices of 1,024 operations. If a trace has ticks, the column p99.9 is
// the quantile of their times. The time of a slice or tick is its median over the runs of the process.
//
// # Memory
//
// The column "resident" has the anonymous resident bytes at the end of the workload, with all blocks live and written
// whole. The resident bytes of an empty program of the same language, which draws its tables and allocates nothing, are
// subtracted. The result is divided by the sum of the live sizes. The empty program in C loads no library. The memory
// that a library takes at its start therefore counts: 3.9 MB with tcmalloc, 0.3 MB with jemalloc.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/strata-go/strata/engine/abtest/settle"
	"github.com/strata-go/strata/engine/cmdline"
)

func main() {
	out := &cmdline.Output{Writer: os.Stdout}
	os.Exit(out.Status("bench", run(os.Args[1:], out), os.Stderr))
}

// options are the values of the flags.
type options struct {
	rows               string
	rounds, placements int
	check, all, short  bool
	go127              bool
	peers              peerFlag
	state, json, md    string
	sources            string // at the beginning of the run
}

// parse reads the command line, and writes what is wrong with it to fault.
func parse(args []string, fault io.Writer) (o options, err error) {
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.StringVar(&o.rows, "rows", "", "`beginnings` of the names of workloads, with commas between them; all when empty")
	fs.IntVar(&o.rounds, "rounds", 12, "how often each side of a workload runs")
	fs.IntVar(&o.placements, "placements", 4, "programs of each Go side that differ in the order of their functions")
	fs.BoolVar(&o.check, "check", false, "measure the judged ratios alone, and exit 1 if one is above its bound or a library is missing")
	fs.BoolVar(&o.all, "all", false, "measure everything, also growth with live blocks and calls through wrappers")
	fs.BoolVar(&o.short, "short", false, "time nothing: run every side of every workload on small sizes and compare checksums")
	fs.BoolVar(&o.go127, "go127", false, "also build four Go allocators by go1.27.3")
	fs.Var(&o.peers, "peer", "also `NAME=FILE.so`, a library that serves malloc; may be repeated")
	fs.StringVar(&o.state, "state", "", "keep the result of each workload in this `file`, and resume from it; with -all a file of the temporary folder unless named")
	fs.StringVar(&o.json, "json", "", "write every figure into this `file`")
	fs.StringVar(&o.md, "md", "", "put the tables into this Markdown `file`, between the lines that mark their place")
	if err := cmdline.Parse(fs, args, fault); err != nil {
		return o, err
	}
	switch {
	case fs.NArg() > 0 || o.rounds < 1 || o.placements < 1:
		return o, cmdline.Wrong(fs, fault, fmt.Sprintf("-rounds %d -placements %d and %d more arguments; allowed are at least 1, 1 and none", o.rounds, o.placements, fs.NArg()))
	case o.check && o.all || o.check && o.short || o.all && o.short:
		return o, cmdline.Wrong(fs, fault, "allowed is one of -check, -all and -short")
	case o.all && o.state == "":
		o.state = filepath.Join(os.TempDir(), "strata-memory-bench.json")
	}
	return o, nil
}

// A peerFlag collects the values of -peer.
type peerFlag []side

func (p *peerFlag) String() string { return "" }

func (p *peerFlag) Set(s string) error {
	name, file, ok := strings.Cut(s, "=")
	if !ok || name == "" || file == "" {
		return errors.New("allowed: NAME=FILE.so, as in mimalloc3=/usr/lib/libmimalloc.so.3")
	}
	if strings.HasSuffix(name, through) || strings.HasSuffix(name, again) {
		return fmt.Errorf("%q has the ending of another side", name)
	}
	_, inGo := goSide(name)
	if inGo || slices.Contains(append(cNames(), cLoop), name) || slices.ContainsFunc(*p, func(s side) bool { return s.name == name }) {
		return fmt.Errorf("another side is named %q", name)
	}
	*p = append(*p, side{name: name, kind: inC, preload: file, extra: true})
	return nil
}

func run(args []string, out io.Writer) error {
	o, err := parse(args, os.Stderr)
	if err != nil {
		return err
	}
	o.sources = sources(".")
	chosen := settle.Choose(o.tests(), o.rows, test.named)
	if len(chosen) == 0 {
		return fmt.Errorf("no workload begins with %q", o.rows)
	}
	if err := errors.Join(cmdline.Writable(o.json, o.md, o.state), settle.Marked(o.md, tablesBegin, tablesEnd)); err != nil {
		return err
	}
	b, err := newBench(o)
	if err != nil {
		return err
	}
	defer b.close()
	if o.short {
		return b.same(chosen, out)
	}
	results, err := b.measureAll(chosen)
	if err != nil {
		return err
	}
	return o.report(b, results, out)
}
