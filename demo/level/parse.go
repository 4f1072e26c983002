package level

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Version is the version of the level files that this package reads.
const Version = 1

// Parse parses and validates a level file; name stands in the errors. Nothing of data is
// kept. The error joins everything that is wrong (of broken JSON, the first thing), one line
// each, with the file, the path of the field and what is allowed:
//
//	levels/ember.json: assets[3].priority: 200; allowed: 0 (first) to 100
//
// Every field of the schema must be there, and no other. Parse never panics.
func Parse(name string, data []byte) (*Level, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("%s: %d bytes; a level file has at most %d", name, len(data), maxBytes)
	}
	if !utf8.Valid(data) { // encoding/json would put other letters there without a word
		at := 0
		for at < len(data) {
			if c, n := utf8.DecodeRune(data[at:]); c == utf8.RuneError && n == 1 {
				break
			} else {
				at += n
			}
		}
		return nil, fmt.Errorf("%s: byte %d: no UTF-8; a level file is UTF-8 throughout", name, at)
	}
	r := &problems{file: name}
	root := parseTree(r, data)
	if root == nil {
		return nil, r.err()
	}
	l := new(Level)
	l.read(root)
	if r.err() == nil { // ranges are worth a word only where the shape is right
		l.check(r)
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return l, nil
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
	lines   []string
	omitted int
}

// maxProblems is what a person reads before fixing the first.
const maxProblems = 20

func (p *problems) add(field, format string, args ...any) {
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

func (p *problems) err() error {
	if len(p.lines) == 0 {
		return nil
	}
	text := strings.Join(p.lines, "\n")
	if p.omitted > 0 {
		text += fmt.Sprintf("\n%s: and %d more", p.file, p.omitted)
	}
	return &Error{File: p.file, text: text}
}

// A Error says what is wrong with a level file, one problem a line.
type Error struct {
	File string
	text string
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
