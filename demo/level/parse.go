package level

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Version is the version of the level files that this package reads.
const Version = 1

// Parse parses and validates a level file; name stands in the errors, and if it ends in .json it must be that of the level.
// Nothing of data is kept. Every error is an [*Error]. It joins everything that is wrong (of broken JSON, the first
// thing), one line each, with the file, the path of the field and what is allowed:
//
//	levels/ember.json: assets[3].priority: 200; allowed: 0 (first) to 100
//
// Every field of the schema must be there, and no other. Parse never panics.
func Parse(name string, data []byte) (*Level, error) {
	r := &problems{file: name, data: data}
	if len(data) > maxBytes {
		r.add(maxBytes, "", "%d bytes; a level file has at most %d", len(data), maxBytes)
		return nil, r.err()
	}
	if at := invalidUTF8(data); at >= 0 { // encoding/json would silently replace the letters
		r.add(at, r.position(at), "no UTF-8; a level file is UTF-8 throughout")
		return nil, r.err()
	}
	root := parseTree(r, data)
	if root == nil {
		return nil, r.err()
	}
	l := new(Level)
	l.read(root)
	if r.err() == nil { // ranges are checked only if the shape is right
		r.root = root
		l.check(r)
		l.checkFile(r, name)
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return l, nil
}

// invalidUTF8 returns the offset of the first byte that is no UTF-8, or -1.
func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for at := 0; ; {
		c, n := utf8.DecodeRune(data[at:])
		if c == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
}

func (l *Level) read(n *node) {
	n.object("version", "name", "title", "next", "palette", "ambient", "assets")
	if v := n.field("version"); v.integer() != Version && v.ok() {
		v.problem("version %s; allowed: %d", v.text, Version)
	}
	l.Name, l.Title, l.Next = n.field("name").str(), n.field("title").str(), n.field("next").str()
	l.readPalette(n.field("palette"))
	ambient := n.field("ambient").object("rate", "kind")
	l.Ambient = Ambient{ambient.field("rate").number(), ambient.field("kind").str()}
	for _, a := range n.field("assets").array() {
		a.object("id", "file", "priority")
		l.Assets = append(l.Assets, Asset{a.field("id").str(), a.field("file").str(), a.field("priority").integer()})
	}
}

func (l *Level) readPalette(n *node) {
	colours := n.array()
	if n.ok() && len(colours) != len(l.Palette) {
		n.problem("%d colours; a palette has %d", len(colours), len(l.Palette))
		return
	}
	for i, c := range colours {
		text := c.str()
		colour, ok := parseColor(text)
		if c.ok() && !ok {
			c.problem("bad colour %s; allowed: #rrggbb with hexadecimal digits", short(text))
		}
		l.Palette[i] = colour
	}
}

// problems collects what is wrong with a file.
type problems struct {
	file    string
	data    []byte
	root    *node // for the offsets of problems that name their field alone; nil if there is none
	first   int   // offset of the first problem in data, or -1
	lines   []string
	omitted int
}

// maxProblems is what a person reads before fixing the first.
const maxProblems = 20

// add adds a problem at an offset of the data, or -1 if the level was not read from data.
func (p *problems) add(at int, field, format string, args ...any) {
	if len(p.lines) == 0 {
		if p.first = at; at < 0 && p.root != nil {
			p.first = p.root.find(field)
		}
	}
	if len(p.lines) == maxProblems {
		p.omitted++
		return
	}
	where := p.file
	if field != "" {
		where += ": " + field
	}
	p.lines = append(p.lines, where+": "+fmt.Sprintf(format, args...))
}

// lineOf returns the line and the column of an offset.
func (p *problems) lineOf(at int) (line, column int) {
	before := p.data[:min(at, len(p.data))]
	return 1 + bytes.Count(before, []byte{'\n'}), len(before) - bytes.LastIndexByte(before, '\n')
}

// position returns an offset's line and column as text.
func (p *problems) position(at int) string {
	line, column := p.lineOf(at)
	return fmt.Sprintf("line %d, column %d", line, column)
}

func (p *problems) err() error {
	if len(p.lines) == 0 {
		return nil
	}
	text := strings.Join(p.lines, "\n")
	if p.omitted > 0 {
		text += fmt.Sprintf("\n%s: and %d more", p.file, p.omitted)
	}
	e := &Error{File: p.file, text: text}
	if p.first >= 0 {
		e.Line, e.Column = p.lineOf(p.first)
	}
	return e
}

// An Error says what is wrong with a level file, one problem a line.
type Error struct {
	File string
	// Line and Column are the place of the first problem, from 1; columns are bytes. Both are 0 if the level
	// was not read from a file.
	Line, Column int
	text         string
}

func (e *Error) Error() string { return e.text }

// short quotes a string from a file, cut to what fits in a message.
func short(s string) string {
	const most = 40
	if len(s) > most {
		return fmt.Sprintf("%q...", s[:most])
	}
	return fmt.Sprintf("%q", s)
}
