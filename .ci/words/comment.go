package main

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

// A line is a line of a file, or of a comment less its marks.
type line struct {
	number int
	text   string
}

var (
	directive  = regexp.MustCompile(`^//([a-z0-9]+:[a-z0-9]|line |export )`)
	listMarker = regexp.MustCompile(`^(?:[-*+•]|[0-9]+[.)])[ \t]+`)
	linkTarget = regexp.MustCompile(`^\[[^\]]+\]: \S+$`)
)

// commentLines returns the lines of a comment without their marks and without directives.
func commentLines(fset *token.FileSet, group *ast.CommentGroup) (lines []line) {
	for _, c := range group.List {
		number := fset.Position(c.Pos()).Line
		if text, isLine := strings.CutPrefix(c.Text, "//"); isLine {
			if !directive.MatchString(c.Text) {
				lines = append(lines, line{number, strings.TrimPrefix(text, " ")})
			}
			continue
		}
		text := strings.TrimSuffix(strings.TrimPrefix(c.Text, "/*"), "*/")
		for s := range strings.SplitSeq(text, "\n") {
			lines = append(lines, line{number, strings.TrimPrefix(s, " ")})
			number++
		}
	}
	return lines
}

// commentBlocks divides a comment as go doc does: an empty line ends a paragraph, an indented line with a
// marker is an item of a list, any other indented line is code.
func commentBlocks(lines []line) (blocks []*block) {
	var open *block
	for _, l := range lines {
		trimmed := strings.TrimSpace(l.text)
		indented := strings.HasPrefix(l.text, " ") || strings.HasPrefix(l.text, "\t")
		marker := listMarker.FindString(trimmed)
		switch {
		case trimmed == "" || linkTarget.MatchString(l.text):
			open = nil
			continue
		case indented && marker != "":
			open = &block{kind: item}
			blocks = append(blocks, open)
			trimmed = trimmed[len(marker):]
		case indented && open != nil && open.kind == item:
		case indented:
			open = nil
			b := &block{kind: code}
			b.add(l.number, trimmed)
			blocks = append(blocks, b)
			continue
		case strings.HasPrefix(l.text, "# "):
			open = nil
			b := &block{kind: heading}
			b.add(l.number, trimmed)
			blocks = append(blocks, b)
			continue
		case open == nil || open.kind != prose:
			open = &block{kind: prose}
			blocks = append(blocks, open)
		}
		open.add(l.number, trimmed)
	}
	for _, b := range blocks {
		b.text = maskSpans(b.text)
	}
	return blocks
}
