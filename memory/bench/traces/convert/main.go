// Command convert makes a trace of the calls that ../../c/record.c has recorded, and writes its row in the table of
// README.md. The script ../record calls it.
//
//	go run ./convert -calls FILE -dir . -name NAME -kind KIND -program TEXT -command TEXT
//	go run ./convert -trace FILE -dir . -name NAME -kind KIND -program TEXT -command TEXT   of a trace of Strata's own
//	go run ./convert -dir . -name NAME -kind KIND -program TEXT -command TEXT   the row of a trace that is there
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/strata-go/strata/engine/cmdline"
	"github.com/strata-go/strata/memory/trace"
)

func main() {
	out := &cmdline.Output{Writer: os.Stdout}
	os.Exit(out.Status("convert", run(os.Args[1:], out, os.Stderr), os.Stderr))
}

func run(args []string, out, fault io.Writer) error {
	flags := flag.NewFlagSet("convert", flag.ContinueOnError)
	calls := flags.String("calls", "", "the `file` of record.c; without it and -trace the trace is there already")
	recorded := flags.String("trace", "", "instead of -calls: a trace in a `file`, which is compressed")
	dir := flags.String("dir", ".", "the `folder` of the trace and of README.md")
	limit := flags.Uint64("limit", 1_000_000, "the trace ends after so many operations")
	var r row
	flags.StringVar(&r.name, "name", "", "of the trace")
	flags.StringVar(&r.kind, "kind", "", "of the program")
	flags.StringVar(&r.program, "program", "", "its package and version")
	flags.StringVar(&r.command, "command", "", "that was recorded")
	if err := cmdline.Parse(flags, args, fault); err != nil {
		return err
	}
	if flags.NArg() > 0 || *limit < 1 || *calls != "" && *recorded != "" {
		return cmdline.Wrong(flags, fault, fmt.Sprintf("-limit %d and %d more arguments; allowed are at least 1, none, and one of -calls and -trace", *limit, flags.NArg()))
	}
	for _, cell := range []string{r.name, r.kind, r.program, r.command} {
		if cell == "" || strings.ContainsAny(cell, "|\n") {
			return cmdline.Wrong(flags, fault, fmt.Sprintf("-name, -kind, -program and -command are wanted, without | and line ends: %.40q", cell))
		}
	}
	file := filepath.Join(*dir, r.name+".trace")
	switch {
	case *calls != "":
		if err := write(file, *calls, r.name+": "+r.program, *limit); err != nil {
			return err
		}
	case *recorded != "":
		if err := compress(file, *recorded, *limit); err != nil {
			return err
		}
	}
	stored, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if r.facts, err = measure(stored); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	fmt.Fprintln(out, r)
	return update(filepath.Join(*dir, "README.md"), r)
}

// compress copies a trace that a program has recorded itself.
func compress(file, recorded string, limit uint64) error {
	in, err := os.Open(recorded)
	if err != nil {
		return err
	}
	defer in.Close()
	r, err := trace.NewReader(bufio.NewReader(in))
	if err != nil {
		return fmt.Errorf("%s: %w", recorded, err)
	}
	var out bytes.Buffer
	w, err := trace.NewWriter(&out, r.Header(), trace.Config{Compress: true})
	if err != nil {
		return err
	}
	if _, err := trace.Copy(w, r, limit); err != nil {
		return fmt.Errorf("%s: %w", recorded, err)
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(file, out.Bytes(), 0o666)
}

// write makes the trace of recorded calls.
func write(file, calls, program string, limit uint64) error {
	in, err := os.Open(calls)
	if err != nil {
		return err
	}
	defer in.Close()
	var out bytes.Buffer
	w, err := trace.NewWriter(&out, trace.Header{Program: program}, trace.Config{Compress: true})
	if err != nil {
		return err
	}
	n, err := convert(w, bufio.NewReaderSize(in, 1<<20), limit)
	if err != nil {
		return fmt.Errorf("%s: %w", calls, err)
	}
	if n == 0 {
		return fmt.Errorf("%s: no calls: the program did not load record.c", calls)
	}
	return os.WriteFile(file, out.Bytes(), 0o666)
}
