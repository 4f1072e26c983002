package settle

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Replace replaces a text in a file: the text after the first line that ends with `begins`, up to the next occurrence
// of `ends`. Both stay. The new text must end with a newline. If the file has no such places, Replace returns an error
// and changes nothing.
func Replace(name, begins, ends, text string) error {
	old, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	before, rest, first := bytes.Cut(old, []byte(begins+"\n"))
	_, after, last := bytes.Cut(rest, []byte(ends))
	if !first || !last {
		return fmt.Errorf("%s has no lines %q and %q to put the table between", name, begins, ends)
	}
	var b bytes.Buffer
	b.Write(before)
	b.WriteString(begins + "\n" + text + ends)
	b.Write(after)
	return os.WriteFile(name, b.Bytes(), 0o644)
}

// Writable returns an error if no file can be written at one of the paths. A command calls it before it measures: later
// its figures would be lost. The paths "" and "-" count as writable. A path that exists must be a plain file.
func Writable(paths ...string) error {
	for _, path := range paths {
		if path == "" || path == "-" {
			continue
		}
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("cannot write %s: allowed is a plain file", path)
		}
		f, err := os.CreateTemp(filepath.Dir(path), ".strata-*")
		if err == nil {
			err = errors.Join(f.Close(), os.Remove(f.Name()))
		}
		if err != nil {
			return fmt.Errorf("cannot write %s: %w", path, err)
		}
	}
	return nil
}

// Machine returns the Go version, the system and the processors of this process in one line.
func Machine() string {
	return fmt.Sprintf("%s, %s/%s, %s", runtime.Version(), runtime.GOOS, runtime.GOARCH, Processor())
}

// Processor returns the model of the processors, and how many the process can use, such as "AMD EPYC, CPUs: 2". If
// /proc/cpuinfo does not name the model, the text has "unknown processor" in its place.
func Processor() string {
	name := "unknown processor"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if key, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				name = strings.TrimSpace(v)
				break
			}
		}
	}
	return fmt.Sprintf("%s, CPUs: %d", name, runtime.NumCPU())
}

// Figure formats v as [Digits] does, and adds the unit. From 10,000 ns on it converts to µs, and from 10,000 µs on to ms.
func Figure(v float64, unit string) string {
	switch {
	case unit == "ns" && v >= 1e4:
		return Figure(v/1e3, "µs")
	case unit == "µs" && v >= 1e4:
		return Figure(v/1e3, "ms")
	}
	return Digits(v) + " " + unit
}

// Digits formats v with three or more digits: two decimals below 10, one decimal below 100, and none from 100 on.
func Digits(v float64) string {
	switch {
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}
