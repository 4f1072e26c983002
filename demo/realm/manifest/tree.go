package manifest

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/strata-go/strata/demo/strictjson"
)

// A node is a value of a JSON file with its place. It replaces a struct for encoding/json, whose errors name
// neither the index of an element nor the file, which reads missing fields as zeroes, and of doubled fields the last.
//
// A nil *node is a value that is missing or of the wrong type, and was reported. Every method accepts it, so that one
// mistake is one line.
type node struct {
	report *problems
	parent *node
	index  int // in the parent's values
	at     int // offset in the data
	kind   kind
	bad    bool   // something was reported here
	text   string // of a string or number
	keys   []string
	values []*node
}

type kind uint8

const (
	isNull kind = iota
	isBool
	isNumber
	isString
	isArray
	isObject
)

var kindNames = []string{"null", "true or false", "a number", "a string", "an array", "an object"}

// Bounds of the tree, above those of a valid manifest. They keep the search for a key cheap in hostile files, and the
// message about it.
const (
	maxDepth   = 12
	maxEntries = 1024
)

// parseTree reads data. It returns nil if data is not JSON, which it has reported.
func parseTree(r *problems, data []byte) *node {
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		at, _ := strictjson.SyntaxAt(err, len(data))
		r.add(at, r.position(at), "%s; a manifest is one JSON object", strings.TrimPrefix(err.Error(), "json: "))
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	root := &node{report: r}
	if !root.read(dec, 0) {
		return nil
	}
	return root
}

// read reads the next value. It returns false if the value was refused, which it has reported.
func (n *node) read(dec *json.Decoder, depth int) bool {
	n.at = int(dec.InputOffset())
	for data := n.report.data; n.at < len(data) && strings.IndexByte(" \t\r\n,:", data[n.at]) >= 0; n.at++ { // to the value
	}
	tok, err := dec.Token()
	if err != nil { // cannot be: the syntax was checked
		n.problem("%v", err)
		return false
	}
	switch v := tok.(type) {
	case bool:
		n.kind = isBool
	case json.Number:
		n.kind, n.text = isNumber, v.String()
	case string:
		n.kind, n.text = isString, v
	case json.Delim:
		n.kind = isArray
		if v == '{' {
			n.kind = isObject
		}
		return n.readInside(dec, depth+1)
	}
	return true
}

// readInside reads the elements up to the closing delimiter.
func (n *node) readInside(dec *json.Decoder, depth int) bool {
	if depth > maxDepth {
		n.problem("nested too deep; allowed: %d", maxDepth)
		return false
	}
	for dec.More() {
		if len(n.values) == maxEntries {
			n.problem("too many entries; allowed: %d", maxEntries)
			return false
		}
		if n.kind == isObject {
			tok, _ := dec.Token()
			key, _ := tok.(string)
			n.keys = append(n.keys, key)
		}
		v := &node{report: n.report, parent: n, index: len(n.values)}
		n.values = append(n.values, v)
		if !v.read(dec, depth) {
			return false
		}
	}
	_, err := dec.Token()
	return err == nil
}

// path returns the place of n, as "waves[1].spawns[0].enemy". It is made for messages only: a
// file with long keys would make it costly for each node.
func (n *node) path() string {
	if n.parent == nil {
		return ""
	}
	p := n.parent.path()
	if n.parent.kind == isArray {
		return p + "[" + strconv.Itoa(n.index) + "]"
	}
	return join(p, n.parent.keys[n.index])
}

func join(path, key string) string {
	if q := short(key); q != strconv.Quote(key) || len(q) != len(key)+2 {
		key = q
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

func (n *node) problem(format string, args ...any) {
	n.bad = true
	n.report.add(n.at, n.path(), format, args...)
}

// find returns the offset of the value with a path, or of the innermost one around it that is there.
func (n *node) find(path string) int {
	for _, v := range n.values {
		if p := v.path(); p == path || strings.HasPrefix(path, p+".") || strings.HasPrefix(path, p+"[") {
			return v.find(path)
		}
	}
	return n.at
}

// ok reports whether the value is there and nothing was wrong with it so far.
func (n *node) ok() bool { return n != nil && !n.bad }

// want reports a value of another kind, once.
func (n *node) want(k kind) bool {
	if n == nil {
		return false
	}
	if n.kind != k {
		n.problem("%s; allowed: %s", kindNames[n.kind], kindNames[k])
		return false
	}
	return true
}

// object reports unknown, doubled and missing fields of an object.
func (n *node) object(fields ...string) *node {
	if !n.want(isObject) {
		return nil
	}
	for i, key := range n.keys {
		switch {
		case !slices.Contains(fields, key):
			n.values[i].problem("unknown field; allowed: %s", strings.Join(fields, ", "))
		case slices.Index(n.keys, key) < i:
			n.values[i].problem("the field is there twice")
		}
	}
	for _, f := range fields {
		if !slices.Contains(n.keys, f) {
			n.report.add(n.at, join(n.path(), f), "missing; it is required")
		}
	}
	return n
}

func (n *node) field(key string) *node {
	if n == nil || n.kind != isObject {
		return nil
	}
	if i := slices.Index(n.keys, key); i >= 0 {
		return n.values[i]
	}
	return nil
}

func (n *node) array() []*node {
	if !n.want(isArray) {
		return nil
	}
	return n.values
}

func (n *node) str() string {
	if !n.want(isString) {
		return ""
	}
	return n.text
}

// integer also reads 3.0 and 3e2, which are integers to JSON.
func (n *node) integer() int {
	if !n.want(isNumber) {
		return 0
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<30 {
		n.problem("%s is not a whole number of a sensible size", cut(n.text))
		return 0
	}
	return int(f)
}

func (n *node) number() float32 {
	if !n.want(isNumber) {
		return 0
	}
	f, err := strconv.ParseFloat(n.text, 32)
	if err != nil {
		n.problem("%s is not a number of a sensible size", cut(n.text))
		return 0
	}
	return float32(f)
}

func cut(s string) string { return s[:min(len(s), 40)] }
