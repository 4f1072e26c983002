package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	ratchetHead = "# Phrases and sentences above 30 words in the other comments of each folder. A count may fall and not rise:\n" +
		"# go run -C .ci/words . -write lowers it.\n"
	todoHead = "# Units that are not rewritten by ENGLISH.md yet. A unit without a mistake must be removed; none may be added.\n"
)

// lists are the two files beside this program.
type lists struct {
	dir     string
	ratchet map[string]int
	todo    map[string]bool
}

// readLists reads both files. A file that does not exist is empty.
func readLists(dir string) (*lists, error) {
	l := &lists{dir: dir, ratchet: map[string]int{}, todo: map[string]bool{}}
	err := eachRow(filepath.Join(dir, "ratchet.txt"), 2, func(f []string) error {
		n, err := strconv.Atoi(f[1])
		if _, twice := l.ratchet[f[0]]; err != nil || n < 1 || twice {
			return errors.New("want a folder, once, and a count above 0")
		}
		l.ratchet[f[0]] = n
		return nil
	})
	if err != nil {
		return nil, err
	}
	return l, eachRow(filepath.Join(dir, "todo.txt"), 1, func(f []string) error {
		if l.todo[f[0]] {
			return errors.New("stands there twice")
		}
		l.todo[f[0]] = true
		return nil
	})
}

// eachRow calls row for each line of a file that is not empty and no comment.
func eachRow(name string, fields int, row func(f []string) error) error {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	number := 0
	for s := range strings.SplitSeq(string(text), "\n") {
		number++
		f := strings.Fields(s)
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		if len(f) != fields {
			return fmt.Errorf("%s:%d: %q: want %d fields", name, number, s, fields)
		}
		if err := row(f); err != nil {
			return fmt.Errorf("%s:%d: %q: %w", name, number, s, err)
		}
	}
	return nil
}

// lower takes the counts of the tree where they are lower, and removes units that have no mistake or
// do not exist. If there is no ratchet yet, it has all counts.
func (l *lists) lower(t *tree) {
	if len(l.ratchet) == 0 {
		for name, u := range t.units {
			l.ratchet[name] = len(u.other)
		}
	}
	for name, allowed := range l.ratchet {
		n := 0
		if u := t.units[name]; u != nil {
			n = min(allowed, len(u.other))
		}
		l.ratchet[name] = n
		if n == 0 {
			delete(l.ratchet, name)
		}
	}
	for name := range l.todo {
		if u := t.units[name]; u == nil || len(u.wrong) == 0 {
			delete(l.todo, name)
		}
	}
}

// write writes both files. An empty list of units to do is deleted.
func (l *lists) write() error {
	var b strings.Builder
	b.WriteString(ratchetHead)
	for _, name := range sorted(l.ratchet) {
		fmt.Fprintf(&b, "%s %d\n", name, l.ratchet[name])
	}
	if err := os.WriteFile(filepath.Join(l.dir, "ratchet.txt"), []byte(b.String()), 0o644); err != nil {
		return err
	}
	todo := filepath.Join(l.dir, "todo.txt")
	if len(l.todo) == 0 {
		if err := os.Remove(todo); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return os.WriteFile(todo, []byte(todoHead+strings.Join(sorted(l.todo), "\n")+"\n"), 0o644)
}
