package manifest

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/strata-go/strata/demo/realm"
)

// version is that of the files that this package reads.
const version = 1

// maxBytes is far above what an author writes, and bounds the cost of a parse.
const maxBytes = 1 << 20

// Parse parses and validates a manifest. If name ends in .json, its base name without .json must be the name of the
// realm. Every field of the schema is required, and no other is allowed. Parse keeps nothing of data and never panics.
// Every error is an [*Error], with a line for each mistake: name, the path of the field, and what is allowed. After 20
// lines another one has the number of the rest. Fields, types, version and colours are checked first, and the other
// values only if all of these are right. If the JSON is invalid or too large, only one mistake is reported. Example:
//
//	levels/ember.json: assets[3].priority: 200; allowed: 0 (first) to 100
func Parse(name string, data []byte) (*File, error) {
	r := &problems{file: name, data: data}
	if len(data) > maxBytes {
		r.add(maxBytes, "", "%d bytes; a manifest has at most %d", len(data), maxBytes)
		return nil, r.err()
	}
	if at := invalidUTF8(data); at >= 0 { // encoding/json would silently replace the letters
		r.add(at, r.position(at), "no UTF-8; a manifest is UTF-8 throughout")
		return nil, r.err()
	}
	root := parseTree(r, data)
	if root == nil {
		return nil, r.err()
	}
	f := new(File)
	f.read(root)
	if r.err() == nil { // ranges are checked only if the shape is right
		r.root = root
		f.check(r)
		f.checkFile(r, name)
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return f, nil
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

func (f *File) read(n *node) {
	n.object("version", "name", "title", "next", "palette", "ambient", "assets")
	if v := n.field("version"); v.integer() != version && v.ok() {
		v.problem("version %s; allowed: %d", v.text, version)
	}
	f.Name, f.Title, f.Next = n.field("name").str(), n.field("title").str(), n.field("next").str()
	f.readPalette(n.field("palette"))
	ambient := n.field("ambient").object("rate", "kind")
	f.Ambient = Ambient{ambient.field("rate").number(), ambient.field("kind").str()}
	for _, a := range n.field("assets").array() {
		a.object("id", "file", "priority")
		f.Assets = append(f.Assets, Asset{a.field("id").str(), a.field("file").str(), a.field("priority").integer()})
	}
}

func (f *File) readPalette(n *node) {
	colours := n.array()
	if n.ok() && len(colours) != len(f.Palette) {
		n.problem("%d colours; a palette has %d", len(colours), len(f.Palette))
		return
	}
	for i, c := range colours {
		text := c.str()
		colour, ok := realm.ParseColor(text)
		if c.ok() && !ok {
			c.problem("bad colour %s; allowed: #rrggbb with hexadecimal digits", short(text))
		}
		f.Palette[i] = colour
	}
}

// problems collects what is wrong with a file.
type problems struct {
	file    string
	data    []byte
	root    *node // for the offsets of problems that name their field alone; nil if there is none
	first   int   // offset of the first problem in data
	lines   []string
	omitted int
}

// maxProblems bounds the message: nobody reads more before fixing the first.
const maxProblems = 20

// add adds a problem at an offset of the data; -1 is that of the field.
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
	e.Line, e.Column = p.lineOf(p.first)
	return e
}

// An Error lists the mistakes in a manifest, one in each line: see [Parse].
type Error struct {
	File         string
	Line, Column int // of the first problem, from 1; columns are bytes
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
