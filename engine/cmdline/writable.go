package cmdline

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Writable returns an error if a command cannot write a file at one of the paths. A command calls Writable before it
// works, so that its results are not lost. The path "" counts as writable. A path that exists must be a plain file,
// because an atomic write would replace a pipe or a device. A link to a missing file is an error, and so are two paths
// to one file. Writable makes a temporary file in each folder and removes it. The name of this file begins with
// .strata- and the number of the process.
func Writable(paths ...string) error {
	var before []string
	for _, path := range paths {
		if path == "" {
			continue
		}
		for _, b := range before {
			if sameFile(b, path) {
				return fmt.Errorf("cannot write %s: it is the same file as %s; name two", path, b)
			}
		}
		before = append(before, path)
		if err := writable(path); err != nil {
			return fmt.Errorf("cannot write %s: %w", path, err)
		}
	}
	return nil
}

func writable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return errors.New("it is a folder; allowed is a plain file")
	case err == nil && !info.Mode().IsRegular():
		return errors.New("it is a pipe or a device; allowed is a plain file")
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil { // it could lead to the file of another flag
			return errors.New("it is a link to a missing file; allowed is a plain file")
		}
	case err != nil: // no such name is possible, or allowed
		return cause(err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), fmt.Sprintf(".strata-%d-*", os.Getpid()))
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	return cause(err)
}

// cause takes the path out of an error: it is known, or that of a temporary file.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
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
