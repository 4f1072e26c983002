package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/strata-go/strata/engine/atomicfile"
	"github.com/strata-go/strata/engine/cmdline"
)

// writable checks, before the game begins, that a file can be made at each given path. It removes what a run that was
// killed has left there.
func writable(paths ...string) error {
	for _, path := range paths {
		if path != "" {
			atomicfile.Sweep(filepath.Dir(path))
		}
	}
	return cmdline.Writable(paths...)
}

// reason takes the path out of an error. The line has it already, or it is that of a temporary file.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// save writes a file whole or not at all.
func save(name string, write func(io.Writer) error) error {
	if err := atomicfile.Write(name, write); err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	return nil
}

// save writes the report as JSON, or as CSV: the series if there is one, else the tiers.
func (r *report) save(name string) error {
	return save(name, func(w io.Writer) error {
		if !strings.EqualFold(filepath.Ext(name), ".csv") {
			return r.writeJSON(w)
		}
		if r.Series != nil {
			return writeSeries(w, r.Series)
		}
		return r.snapshot.WriteCSV(w)
	})
}

func (r *report) writeJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}
