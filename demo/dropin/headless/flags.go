package main

import (
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/strata-go/strata/engine/cmdline"
)

// parse reads the flags. If one is wrong, fault gets one line about it.
func parse(f *flag.FlagSet, args []string, fault io.Writer) (length, every time.Duration, err error) {
	f.DurationVar(&length, "for", 0, "how long it runs; 0 is until SIGINT or SIGTERM")
	f.DurationVar(&every, "every", 5*time.Second, "time between reports")
	if err = cmdline.Parse(f, args, fault); err == nil && (length < 0 || every <= 0 || f.NArg() > 0) {
		err = cmdline.Wrong(f, fault, fmt.Sprintf("-for %v -every %v and %d more arguments; allowed are at least 0, above 0, and none", length, every, f.NArg()))
	}
	return length, every, err
}
