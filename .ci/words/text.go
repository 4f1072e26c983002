package main

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxWords is the longest sentence of ENGLISH.md.
	maxWords = 30
	// maxTestName is the longest name of a test, benchmark, fuzz target or example.
	maxTestName = 60
)

// A block is a paragraph, an item of a list, a heading, a cell of a table or a line of code. A sentence
// does not go beyond it.
type block struct {
	kind  kind
	text  string // its lines, with a space between them; code spans are masked
	start []int  // the offset of each line in text
	line  []int  // the number of each line in the file
}

type kind int

const (
	prose kind = iota
	item
	heading
	cell
	code
)

// add appends a line.
func (b *block) add(line int, s string) {
	if b.text != "" {
		b.text += " "
	}
	b.start, b.line = append(b.start, len(b.text)), append(b.line, line)
	b.text += s
}

// lineAt returns the line of the file that has the byte at an offset of the text.
func (b *block) lineAt(off int) int {
	i := sort.SearchInts(b.start, off+1) - 1
	return b.line[max(i, 0)]
}

// A sentence is a part of a block, from an offset, with a number of words.
type sentence struct{ from, words int }

// sentences returns the sentences of a block. Code and headings have none.
func (b *block) sentences() (list []sentence) {
	if b.kind == code || b.kind == heading {
		return nil
	}
	from := 0
	flush := func(to int) {
		part := b.text[from:to]
		if n := countWords(part); n > 0 {
			list = append(list, sentence{from + len(part) - len(strings.TrimLeft(part, " ")), n})
		}
		from = to
	}
	for i := 0; i < len(b.text); i++ {
		switch b.text[i] {
		case ';':
			if b.kind == cell {
				flush(i + 1)
			}
		case '.', '!', '?':
			if to := endOfSentence(b.text, i); to > 0 {
				flush(to)
			}
		}
	}
	flush(len(b.text))
	return list
}

// closers may follow the full stop of a sentence.
const closers = ".!?)]\"'*_`”’"

// endOfSentence returns where the sentence that the mark at i ends is over, or 0 if the mark ends none.
func endOfSentence(s string, i int) int {
	to := i + 1
	for to < len(s) && strings.IndexByte(closers, s[to]) >= 0 {
		to++
	}
	if to < len(s) && s[to] != ' ' {
		return 0
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(s[to:], " "))
	if s[i] == '.' && isAbbreviation(s[:i], unicode.IsLower(next)) {
		return 0
	}
	if strings.HasSuffix(s[:to], "...") && unicode.IsLower(next) {
		return 0
	}
	return to
}

// abbreviations end with a full stop in a sentence.
var abbreviations = map[string]bool{
	"e.g": true, "i.e": true, "vs": true, "cf": true, "al": true, "fig": true, "sec": true, "vol": true,
	"approx": true, "resp": true, "incl": true, "no": false, "pp": true, "dr": true, "mr": true, "st": true,
}

// isAbbreviation reports whether the text before a full stop ends with an abbreviation. etc. ends a
// sentence unless it goes on with a small letter.
func isAbbreviation(before string, small bool) bool {
	word := strings.TrimLeft(before[strings.LastIndexByte(before, ' ')+1:], "(\"'*_`[")
	if strings.EqualFold(word, "etc") {
		return small
	}
	if r, n := utf8.DecodeRuneInString(word); n > 0 && n == len(word) && unicode.IsUpper(r) && r != 'I' {
		return true // an initial
	}
	return abbreviations[strings.ToLower(word)]
}

// countWords counts the words of a text. A word has a letter or a digit; a code span, a path, a link and
// a word with hyphens are one.
func countWords(s string) (n int) {
	for w := range strings.FieldsSeq(s) {
		if strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			n++
		}
	}
	return n
}

// maskSpans overwrites what stands between back quotes, so that it is one word and has no phrase. It
// keeps all offsets.
func maskSpans(s string) string {
	b := []byte(s)
	for i := 0; i < len(b); i++ {
		if b[i] != '`' {
			continue
		}
		n := 1
		for i+n < len(b) && b[i+n] == '`' {
			n++
		}
		end := strings.Index(s[i+n:], s[i:i+n])
		if end < 0 {
			return string(b)
		}
		for j := i + n; j < i+n+end; j++ {
			b[j] = 'x'
		}
		i += 2*n + end - 1
	}
	return string(b)
}
