// Command pacing prints what package gcpace costs and saves a program: CPU time, collections and the largest heap. The
// program has so much live memory and makes so much garbage in each level. It runs with plain Go, again with plain Go
// to show the noise, with a pacer, and with a pacer that has Keep.
//
//	go run ./memory/gcpace/internal/pacing [-rounds 5] [-levels 6] [-live 16,100,400,1000] [-garbage 200]
//
// Every cell is a process of its own with GOGC=100 and GOMAXPROCS=2; the columns of a row take
// turns. With the defaults it takes some minutes, and up to 3 GiB of memory.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/strata-go/strata/engine/cmdline"
)

func main() { os.Exit(command(os.Args[1:], os.Stdout, os.Stderr)) }

// command returns the exit status: 1 where a cell fails, 2 for wrong usage.
func command(args []string, out, fault io.Writer) int {
	kept := &cmdline.Output{Writer: out}
	o, err := parse(args, fault)
	switch {
	case err != nil:
	case o.child != "":
		err = child(kept, o.child)
	default:
		err = compare(kept, o, spawn)
	}
	return kept.Status("pacing", err, fault)
}

// options are the flags.
type options struct {
	rounds  int
	levels  int
	live    []int // MiB
	garbage int   // MB per level
	limit   time.Duration
	child   string
}

func parse(args []string, usage io.Writer) (o options, err error) {
	fs := flag.NewFlagSet("pacing", flag.ContinueOnError)
	fs.IntVar(&o.rounds, "rounds", 5, "processes per cell")
	fs.IntVar(&o.levels, "levels", 6, "levels that each process plays")
	live := fs.String("live", "16,100,400,1000", "MiB of live objects with pointers, a row each")
	fs.IntVar(&o.garbage, "garbage", 200, "MB of garbage in small objects per level; a row without any is added")
	fs.DurationVar(&o.limit, "limit", 5*time.Minute, "end a process that takes longer; on a quiet machine the slowest takes some seconds")
	fs.StringVar(&o.child, "child", "", "play one cell, given as JSON, and print what it took; for the command itself")
	if err := cmdline.Parse(fs, args, usage); err != nil {
		return o, err
	}
	if fs.NArg() > 0 || o.rounds < 1 || o.levels < 1 || o.garbage < 0 || o.garbage > 1000 {
		return o, cmdline.Wrong(fs, usage, fmt.Sprintf("-rounds %d -levels %d -garbage %d and %d more arguments; allowed are at least one round and one level, 0 to 1000 MB of garbage, and none",
			o.rounds, o.levels, o.garbage, fs.NArg()))
	}
	if o.limit <= 0 {
		return o, cmdline.Wrong(fs, usage, fmt.Sprintf("-limit %v; allowed is a time above 0", o.limit))
	}
	for s := range strings.SplitSeq(*live, ",") {
		mib, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || mib < 0 || mib > 1200 {
			return o, cmdline.Wrong(fs, usage, fmt.Sprintf("-live %q; allowed are MiB from 0 to 1200, separated by commas", s))
		}
		o.live = append(o.live, mib)
	}
	return o, nil
}

// child plays a cell, and prints what it took for spawn.
func child(out io.Writer, arg string) error {
	var c cell
	if err := json.Unmarshal([]byte(arg), &c); err != nil {
		return err
	}
	r, err := play(c)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(r)
}
