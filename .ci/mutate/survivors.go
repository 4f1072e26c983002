package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// What the survivors file says about a mutant.
const (
	equivalent  = "equivalent"
	owed        = "owed"
	unexplained = "unexplained"
)

// An explained list is a survivors file: reasons by key.
type explained struct {
	path    string
	reasons map[string]string
	order   []string
}

var entry = regexp.MustCompile(`^(.+ \| #\d+) \| (.*)$`)

// readExplained reads the file of a package; none is an empty list.
func readExplained(root, rel string) (*explained, error) {
	e := &explained{path: filepath.Join(root, ".ci", "mutate", "survivors", fileName(rel)+".txt"), reasons: map[string]string{}}
	data, err := os.ReadFile(e.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		m := entry.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("%s:%d: not file func | operator | original => replacement | #k | reason", e.path, i+1)
		}
		if _, twice := e.reasons[m[1]]; twice {
			return nil, fmt.Errorf("%s:%d: a second line for %s", e.path, i+1, m[1])
		}
		e.reasons[m[1]] = m[2]
		e.order = append(e.order, m[1])
	}
	return e, nil
}

// class sorts a survivor by its reason. A reason needs words behind its colon.
func (e *explained) class(key string) string {
	for _, class := range []string{equivalent, owed} {
		if rest, ok := strings.CutPrefix(e.reasons[key], class+":"); ok && strings.Trim(rest, " ?.") != "" {
			return class
		}
	}
	return unexplained
}

// stale lists entries whose mutant was killed, does not build or is no more.
func (e *explained) stale(candidates map[string]bool, known map[string]result) []string {
	var out []string
	for _, key := range e.order {
		switch v := known[key].Verdict; {
		case !candidates[key]:
			out = append(out, key+": no such mutant")
		case v == killed || v == unbuildable:
			out = append(out, key+": "+v)
		}
	}
	return out
}

// write appends keys that the file lacks, with the reason ?.
func (e *explained) write(keys []string) error {
	var b bytes.Buffer
	for _, key := range keys {
		if _, ok := e.reasons[key]; !ok {
			fmt.Fprintf(&b, "%s | ?\n", key)
		}
	}
	if b.Len() == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(e.path), 0o755); err != nil {
		return err
	}
	old, err := os.ReadFile(e.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(old) > 0 && old[len(old)-1] != '\n' {
		old = append(old, '\n')
	}
	return os.WriteFile(e.path, append(old, b.Bytes()...), 0o644)
}
