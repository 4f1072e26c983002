package main

import (
	"fmt"
	"path"
	"strings"
)

// A region is a block of a coverage profile, from (line, col) to (line, col).
type region struct {
	fromLine, fromCol, toLine, toCol int
	count                            int
}

// coverage holds the regions of a package by file. nil means unknown: every line counts as
// reached.
type coverage map[string][]region

// parseProfile reads a profile of go test and keeps the package at importPath.
func parseProfile(profile, importPath string) (coverage, error) {
	c := coverage{}
	for line := range strings.Lines(profile) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "mode:") {
			continue
		}
		colon := strings.LastIndexByte(line, ':')
		if colon < 0 {
			return nil, fmt.Errorf("coverage profile: %q has no file", line)
		}
		var r region
		var statements int
		if _, err := fmt.Sscanf(line[colon+1:], "%d.%d,%d.%d %d %d", &r.fromLine, &r.fromCol, &r.toLine, &r.toCol, &statements, &r.count); err != nil {
			return nil, fmt.Errorf("coverage profile: %q: %w", line, err)
		}
		if dir, file := path.Split(line[:colon]); strings.TrimSuffix(dir, "/") == importPath {
			c[file] = append(c[file], r)
		}
	}
	return c, nil
}

// reaches reports whether a test runs the mutant's place. Where no region holds it, as with
// the expressions of a case, its function decides; outside functions it is taken to be run.
func (c coverage) reaches(m *mutant) bool {
	if c == nil {
		return true
	}
	held, inFunc, ran := false, false, false
	for _, r := range c[m.file] {
		if r.holds(m.line, m.col) {
			if r.count > 0 {
				return true
			}
			held = true
		}
		if r.fromLine >= m.declLine && r.toLine <= m.declEnd {
			inFunc, ran = true, ran || r.count > 0
		}
	}
	return !held && (ran || !inFunc)
}

func (r region) holds(line, col int) bool {
	after := line > r.fromLine || line == r.fromLine && col >= r.fromCol
	before := line < r.toLine || line == r.toLine && col < r.toCol
	return after && before
}
