// Command brotli writes FILE.br beside each FILE that it is given. The command is a module of its own, so that the
// game's module needs no compressor:
//
//	go run -C demo/web/brotli . /path/to/site/strata.wasm
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/andybalholm/brotli"
)

// quality is where a larger one begins to cost more time than bytes: at 9 the game is 2 % smaller, and
// takes three times as long.
const quality = 6

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "brotli: give it files")
		os.Exit(2)
	}
	var errs []error
	for _, name := range os.Args[1:] {
		errs = append(errs, write(name))
	}
	if err := errors.Join(errs...); err != nil {
		fmt.Fprintln(os.Stderr, "brotli:", err)
		os.Exit(1)
	}
}

// write compresses a file of at most some hundred megabytes: all of it is in memory.
func write(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := compress(&out, data); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.WriteFile(name+".br", out.Bytes(), 0o644)
}

func compress(to io.Writer, data []byte) error {
	// The window is the largest that browsers take: the game is longer than any.
	w := brotli.NewWriterOptions(to, brotli.WriterOptions{Quality: quality, LGWin: 24})
	_, err := w.Write(data)
	return errors.Join(err, w.Close())
}
