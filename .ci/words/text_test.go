package main

import (
	"slices"
	"strings"
	"testing"
)

// lengths returns the words of each sentence of a comment, given without its marks.
func lengths(text string) (all []int) {
	var lines []line
	for i, s := range strings.Split(text, "\n") {
		lines = append(lines, line{i + 1, s})
	}
	for _, b := range commentBlocks(lines) {
		for _, s := range b.sentences() {
			all = append(all, s.words)
		}
	}
	return all
}

func TestSentences_EndWhereAReaderEndsThem(t *testing.T) {
	for text, want := range map[string][]int{
		"One two. Three.":         {2, 1},
		"One\ntwo.\n\nThree four": {2, 2},
		"It is 1.5 MiB, e.g. in page.go, i.e. not much. Yes!":  {10, 1},
		"Sizes, alignments etc. are checked. More etc. Then.":  {5, 2, 1},
		"keepLooking polls. free returns.":                     {2, 2},
		"By A. Author and B. Writer. Done.":                    {6, 1},
		"(In brackets.) Out.":                                  {2, 1},
		"Is it? No. Wait... not yet.":                          {2, 1, 3},
		"An item:\n  - one two.\n    three\n  - four\nPlain.":  {2, 2, 1, 1, 1},
		"Text.\n\n\tcode that is not. A sentence.\n\nMore.":    {1, 1},
		"# A heading. Of two\n\nText.":                         {1},
		"A `code span. With a stop` is one word – no more.":    {7},
		"Go 1.26. Next.":                                       {2, 1},
		"See [Pool.Alloc] and https://go.dev/doc.\n\n[x]: y\n": {4},
		"No. That is one.":                                     {1, 3},
	} {
		if got := lengths(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestBlock_LineAtFollowsTheLines(t *testing.T) {
	b := &block{}
	b.add(7, "one two")
	b.add(9, "three")
	for off, want := range map[int]int{0: 7, 6: 7, 8: 9, len(b.text) - 1: 9} {
		if got := b.lineAt(off); got != want {
			t.Errorf("offset %d: line %d, want %d", off, got, want)
		}
	}
}

func TestMarkdown_CodeTablesAndLinks(t *testing.T) {
	const text = "# Title of the page. Long\n" + // heading
		"Prose with a [link](https://x.y/z(1)?q=a b) and\n`code. Span`.\n\n" +
		"```go\nbooks anew. Books.\n```\n\n" +
		"    indented books\n\n" +
		"- item one.\n  goes further\n- item\n\n" +
		"| a | b |\n|---|---|\n| one two; three | `x|y` books |\n\n" +
		"<!-- books -->\nLast <b>line</b>.\n"
	var lines, words []int
	var kinds []kind
	for _, b := range markdownBlocks(text) {
		for _, s := range b.sentences() {
			lines, words, kinds = append(lines, b.lineAt(s.from)), append(words, s.words), append(kinds, b.kind)
		}
	}
	wantLines := []int{2, 11, 12, 13, 15, 15, 17, 17, 17, 20}
	wantWords := []int{6, 2, 2, 1, 1, 1, 2, 1, 2, 2}
	wantKinds := []kind{prose, item, item, item, cell, cell, cell, cell, cell, prose}
	if !slices.Equal(lines, wantLines) || !slices.Equal(words, wantWords) || !slices.Equal(kinds, wantKinds) {
		t.Errorf("lines %v, want %v\nwords %v, want %v\nkinds %v, want %v", lines, wantLines, words, wantWords, kinds, wantKinds)
	}
	hits := 0
	for _, b := range markdownBlocks(text) {
		hits += len(findPhrases(b.text))
	}
	if hits != 1 {
		t.Errorf("%d phrases, want the one in the cell", hits)
	}
}
