// Command gen writes the licences of all code that the demo links, for each system that it is built for.
//
//	go run ./demo/notices/gen -out demo/notices/NOTICES.txt
//
// It asks the go command for the linked packages and takes the licence files from the module cache and from the Go
// installation. It needs no network if the demo can be built for these systems.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/strata-go/strata/engine/atomicfile"
	"github.com/strata-go/strata/engine/cmdline"
)

func main() { os.Exit(command(os.Args[1:], os.Stderr)) }

// command returns the exit status: 1 if a licence is missing, 2 for a command line that is wrong.
func command(args []string, fault io.Writer) int {
	out, err := parse(args, fault)
	if err == nil {
		err = write(out)
	}
	return cmdline.Status("gen", err, fault)
}

func write(out string) error {
	text, err := collect()
	if err != nil {
		return err
	}
	return atomicfile.Write(out, func(w io.Writer) error { _, err := io.Copy(w, bytes.NewReader(text)); return err })
}

func parse(args []string, fault io.Writer) (out string, err error) {
	f := flag.NewFlagSet("gen", flag.ContinueOnError)
	f.StringVar(&out, "out", "", "write the text to `FILE`")
	if err := cmdline.Parse(f, args, fault); err != nil {
		return "", err
	}
	if f.NArg() > 0 {
		return "", cmdline.Wrong(f, fault, fmt.Sprintf("unexpected argument %q; allowed: -out FILE", f.Arg(0)))
	}
	if out == "" {
		return "", cmdline.Wrong(f, fault, "-out: the name of a file is needed")
	}
	if err := cmdline.Writable(out); err != nil { // before the minute that it takes
		return "", cmdline.Wrong(f, fault, "-out: "+err.Error())
	}
	return out, nil
}
