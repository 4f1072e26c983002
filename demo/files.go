package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/strata-go/strata/engine/atomicfile"
)

// writable checks, before the game begins, that a file can be made at each given path. It removes these files at
// once, so that none is left if the process ends.
func writable(paths ...string) error {
	for _, path := range paths {
		if path == "" {
			continue
		}
		switch info, err := os.Stat(path); {
		case err == nil && info.IsDir():
			return fmt.Errorf("cannot write %s: it is a folder", path)
		case err == nil && !info.Mode().IsRegular():
			return fmt.Errorf("cannot write %s: it is a pipe or a device, which a file would replace", path)
		case err != nil && !errors.Is(err, fs.ErrNotExist): // no such name is possible, or allowed
			return fmt.Errorf("cannot write %s: %w", path, reason(err))
		}
		atomicfile.Sweep(filepath.Dir(path)) // what a run that was killed has left
		f, err := os.CreateTemp(filepath.Dir(path), atomicfile.Pattern(""))
		if err == nil {
			err = errors.Join(f.Close(), os.Remove(f.Name()))
		}
		if err != nil {
			return fmt.Errorf("cannot write %s: %w", path, reason(err))
		}
	}
	return nil
}

// sameFile reports whether two paths name one file, which need not exist.
func sameFile(a, b string) bool {
	same := func(a, b string) bool {
		x, errX := os.Stat(a)
		y, errY := os.Stat(b)
		return errX == nil && errY == nil && os.SameFile(x, y)
	}
	return same(a, b) || filepath.Base(a) == filepath.Base(b) && same(filepath.Dir(a), filepath.Dir(b))
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
