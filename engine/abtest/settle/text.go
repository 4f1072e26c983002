package settle

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
)

// Replace replaces a text in a file: the text after the first line that ends with `begins`, up to the next occurrence
// of `ends`. Both stay. The new text must end with a newline. If the file has no such places, Replace returns an error
// and changes nothing.
func Replace(name, begins, ends, text string) error {
	before, after, err := around(name, begins, ends)
	if err != nil {
		return err
	}
	return os.WriteFile(name, slices.Concat(before, []byte(text), after), 0o644)
}

// Marked returns an error if [Replace] could not replace the text: if the file cannot be read or lacks one of the two
// places. If all is well, or if name is "", Marked returns nil. A command calls Marked before it measures, so that its
// figures are not lost. Marked does not test whether the file can be written.
func Marked(name, begins, ends string) error {
	if name == "" {
		return nil
	}
	_, _, err := around(name, begins, ends)
	return err
}

// around returns the parts of a file before and after the text of Replace, with begins and ends.
func around(name, begins, ends string) (before, after []byte, err error) {
	old, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	_, rest, first := bytes.Cut(old, []byte(begins+"\n"))
	at := bytes.Index(rest, []byte(ends))
	if !first || at < 0 {
		return nil, nil, fmt.Errorf("%s has no lines %q and %q to put the table between", name, begins, ends)
	}
	return old[:len(old)-len(rest)], rest[at:], nil
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
