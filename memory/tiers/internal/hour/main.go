// Command hour plays simulated hours of a game's general heap through a manager, and shows whether it fragments. It
// prints the committed bytes, the bytes in use and the fragmentation by tier and minute.
//
//	go run ./memory/tiers/internal/hour [-hours 1] [-seed 1] [-levels=false] [-svg FILE.svg] [-csv FILE.csv]
//
// The clock is simulated, with 60 frames a second and levels of three minutes. An hour takes some seconds.
//
// The exit status is 1 if committed bytes have grown too much after the first minute. That is by more than 5 % within
// the first hour, or by more than 2 % in a later one. It is 2 for wrong usage.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/strata-go/strata/engine/cmdline"
)

// errGrown ends the command if the heap has fragmented.
var errGrown = errors.New("committed memory has grown beyond what is allowed")

func main() {
	os.Exit(command(os.Args[1:], os.Stdout, os.Stderr, func(l load) ([]sample, error) { return play(config(), l) }))
}

// A player is play, with the manager's config.
type player func(l load) ([]sample, error)

// command returns the exit status.
func command(args []string, out, fault io.Writer, play player) int {
	o := &cmdline.Output{Writer: out}
	return o.Status("hour", run(args, o, fault, play), fault)
}

// options are the flags.
type options struct {
	load
	svg, csv string
}

func parse(args []string, usage io.Writer) (o options, err error) {
	fs := flag.NewFlagSet("hour", flag.ContinueOnError)
	hours := fs.Float64("hours", 1, "simulated hours, from 0.05 to 24")
	fs.Uint64Var(&o.Seed, "seed", 1, "chooses sizes, lifetimes and the number of live blocks")
	fs.BoolVar(&o.Levels, "levels", true, "levels of three minutes, at whose end nearly everything dies")
	fs.Func("svg", "write the curve to `FILE`.svg", named(&o.svg, ".svg"))
	fs.Func("csv", "write a line per simulated second to `FILE`.csv", named(&o.csv, ".csv"))
	if err := cmdline.Parse(fs, args, usage); err != nil {
		return o, err
	}
	if fs.NArg() > 0 || !(*hours >= 0.05 && *hours <= 24) {
		return o, cmdline.Wrong(fs, usage, fmt.Sprintf("-hours %v and %d more arguments; allowed are 0.05 to 24 hours, and none", *hours, fs.NArg()))
	}
	if err := cmdline.Writable(o.svg, o.csv); err != nil {
		return o, cmdline.Wrong(fs, usage, err.Error())
	}
	o.Frames, o.scale = int(*hours*framesPerHour), whole
	return o, nil
}

// named returns the Set of a flag for a file to write. The names of two flags end differently.
func named(to *string, ends string) func(string) error {
	return func(name string) error {
		if *to = name; !strings.EqualFold(filepath.Ext(name), ends) {
			return errors.New("the name must end in " + ends)
		}
		return nil
	}
}

func run(args []string, out, usage io.Writer, play player) error {
	o, err := parse(args, usage)
	if err != nil {
		return err
	}
	samples, err := play(o.load)
	if err != nil {
		return err
	}
	if o.csv != "" { // before anything is printed: a pipe that was closed ends the process
		err = write(o.csv, samples, csv)
	}
	if o.svg != "" {
		err = errors.Join(err, write(o.svg, samples, svg))
	}
	report(out, o.load, samples)
	return errors.Join(err, verdict(out, samples))
}

// write makes a file of the samples, whole or not at all.
func write(name string, samples []sample, format func(io.Writer, []sample) error) (err error) {
	defer func() {
		if p, ok := errors.AsType[*fs.PathError](err); ok { // its path is that of the temporary file
			err = fmt.Errorf("cannot write %s: %w", name, p.Err)
		}
	}()
	f, err := os.CreateTemp(filepath.Dir(name), ".hour-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	err = errors.Join(format(f, samples), f.Chmod(0o644), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
