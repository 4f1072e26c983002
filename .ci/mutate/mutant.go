package main

import (
	"fmt"
	"strings"
)

// A mutant is one change of one file. Its key names it without positions, so that it is found
// again when lines above it move.
type mutant struct {
	file string // base name
	fn   string // enclosing function, Type.Method, or the first name of a declaration
	op   string
	from string // original text on one line
	to   string
	nth  int // from 1, among those with the same file, fn, op, from and to

	line, col  int // of the change, from 1
	declLine   int // the lines of the enclosing declaration
	declEnd    int
	start, end int    // bytes of the file that are replaced
	text       string // by this
	decl       string // source of the enclosing declaration
}

func (m *mutant) key() string {
	return fmt.Sprintf("%s %s | %s | %s => %s | #%d", m.file, m.fn, m.op, m.from, m.to, m.nth)
}

// apply returns the source with the change.
func (m *mutant) apply(src []byte) []byte {
	out := make([]byte, 0, len(src)+len(m.text))
	out = append(out, src[:m.start]...)
	out = append(out, m.text...)
	return append(out, src[m.end:]...)
}

// number gives mutants that would share a key their nth, in the order of the file.
func number(all []*mutant) {
	seen := map[string]int{}
	for _, m := range all {
		k := strings.Join([]string{m.file, m.fn, m.op, m.from, m.to}, "\x00")
		seen[k]++
		m.nth = seen[k]
	}
}

// textLimit keeps keys readable: a longer text is cut, and nth tells apart what then is equal.
const textLimit = 100

// oneLine makes white space single blanks and cuts what is long.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > textLimit {
		return string(r[:textLimit]) + "…"
	}
	return s
}
