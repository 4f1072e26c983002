package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A result is a line of a state file: the verdict on one mutant of a package whose files had
// Hash.
type result struct {
	Key     string  `json:"key"`
	Hash    string  `json:"hash"`
	Verdict string  `json:"verdict"`
	By      string  `json:"by,omitempty"` // config, mode and test that killed it
	Seconds float64 `json:"seconds"`
}

// defaultState is apart for each copy of the repository.
func defaultState(root string) string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	name := strings.ReplaceAll(strings.Trim(filepath.ToSlash(root), "/"), "/", "-")
	return filepath.Join(cache, "strata-mutate", name)
}

// A state is the file of a package's results: appended to, and read as a whole.
type state struct {
	path  string
	known map[string]result // by key; the newest that is valid
}

// fileName is the package with dots for slashes.
func fileName(rel string) string { return strings.ReplaceAll(rel, "/", ".") }

// openState reads the results that are valid for hash; with keep, kills of other versions of
// the package are too.
func openState(dir, rel, hash string, keep bool) (*state, error) {
	s := &state{path: filepath.Join(dir, fileName(rel)+".jsonl"), known: map[string]result{}}
	f, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r result
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			continue // cut short when a run was killed: the mutant is judged again
		}
		switch old := s.known[r.Key]; {
		case r.Hash == hash, keep && r.Verdict == killed && old.Hash != hash:
			s.known[r.Key] = r
		case old.Hash != hash:
			delete(s.known, r.Key) // what was killed once survived since
		}
	}
	return s, lines.Err()
}

// add appends a result, in one write.
func (s *state) add(r result) error {
	// A line break first: the line before it may have been cut short.
	line := bytes.NewBufferString("\n")
	enc := json.NewEncoder(line)
	enc.SetEscapeHTML(false) // keys are full of < and &
	if err := enc.Encode(r); err != nil {
		return err
	}
	f, err := os.OpenFile(s.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(line.Bytes()); err != nil {
		f.Close()
		return err
	}
	s.known[r.Key] = r
	return f.Close()
}
