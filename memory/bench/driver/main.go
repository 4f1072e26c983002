// Command driver measures one allocator on one workload, and prints the figures as one JSON object. Command bench, in
// the folder above, builds this program once for each allocator and runs it.
//
//	driver -workload W4 -live 10000 -whole
//
// A build tag selects the allocator: the files alloc_*.go define the type direct with the methods Alloc, Free, TryGet
// and Put. The loops call these methods of a concrete type, so a fast path inlines as it does in a game. With the tag
// wrapped each method is called through one more function that is never inlined. Without a tag the allocator is the Go
// runtime. The folder c has the same program in C.
//
// Sizes, indices and permutations are drawn before the clock starts. The checksum "drawn" is of all that was drawn, the
// checksum "read" of the words read back from blocks. Programs whose checksums differ have not done the same work.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
)

func main() {
	j := job{figures: map[string]float64{}, rng: seed}
	name := flag.String("workload", "", "`name` of the workload")
	flag.IntVar(&j.live, "live", 0, "live blocks; 0 means as many as the workload has")
	flag.IntVar(&j.ops, "ops", 0, "replacements in a repetition; 0 means as many as the workload has")
	flag.IntVar(&j.warm, "warm", 3, "repetitions before the measured ones")
	flag.IntVar(&j.reps, "reps", 11, "measured repetitions")
	flag.BoolVar(&j.whole, "whole", false, "write the whole of each block, not its first 8 bytes")
	flag.BoolVar(&j.nothing, "nothing", false, "draw the tables and allocate nothing")
	flag.StringVar(&j.option, "option", "", "an option of the allocator: huge or warm pages")
	flag.StringVar(&j.program, "program", "", "of W14: the `file` of the program to replay")
	flag.IntVar(&j.core, "core", 1, "number of the processor to run on; -1 means any")
	flag.Parse()
	w := find(*name)
	if w == nil {
		fail(fmt.Errorf("there is no workload %q", *name))
	}
	j.live, j.ops = orElse(j.live, w.live), orElse(j.ops, w.ops)
	runtime.GOMAXPROCS(max(w.cores, 1))
	runtime.LockOSThread()
	pin(j.core)
	w.run(&j)
	fail(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"allocator": allocator, "workload": w.name, "figures": j.figures,
		"drawn": fmt.Sprintf("%016x", j.drawn), "read": fmt.Sprintf("%016x", j.read),
		"repeated": j.repeated, "disturbed": j.disturbed,
	}))
}

func orElse(n, other int) int {
	if n != 0 {
		return n
	}
	return other
}

// fail ends the program if there is an error.
//
//go:noinline
func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(1)
	}
}
