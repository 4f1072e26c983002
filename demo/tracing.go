package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/strata-go/strata/memory/trace"
)

// A tracing writes the file of -trace. It is not an atomic file: what is recorded before a kill stays. Its zero value
// records nothing.
type tracing struct {
	path string
	file *os.File
	w    *trace.Writer
}

// traceLimit is the largest file of -trace: some hours at full heat.
const traceLimit = 1 << 30

// open makes the file, if there is a name.
func (t *tracing) open() (err error) {
	if t.path == "" {
		return nil
	}
	if t.file, err = os.Create(t.path); err != nil {
		return fmt.Errorf("cannot write %s: %w", t.path, reason(err))
	}
	if t.w, err = trace.NewWriter(t.file, trace.Header{Program: "strata demo", Unit: "tick"}, trace.Config{Limit: traceLimit}); err != nil {
		return errors.Join(fmt.Errorf("cannot write %s: %w", t.path, err), t.file.Close())
	}
	return nil
}

// close ends the trace. The error is also that which has stopped the recording during the game.
func (t *tracing) close() error {
	if t.file == nil {
		return nil
	}
	if err := errors.Join(t.w.Close(), t.file.Close()); err != nil {
		return fmt.Errorf("%s is not complete: %w", t.path, err)
	}
	return nil
}
