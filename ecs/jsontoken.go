package ecs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/strata-go/strata/memory"
)

// maxBlanks is how many blanks may follow each other between what is in a text: encoding/json keeps all
// of them, and goes through them again whenever more are read.
const maxBlanks = 64 << 10

// A lineReader counts the lines that go through it.
type lineReader struct {
	r       io.Reader
	lines   int
	blanks  int  // in a row, as far as read
	quoted  bool // a text has begun
	escaped bool // behind a backslash in it
}

func (l *lineReader) Read(p []byte) (int, error) {
	for range 100 { // as bufio does
		n, err := l.r.Read(p)
		l.lines += bytes.Count(p[:n], []byte("\n"))
		if !l.dense(p[:n]) {
			return 0, fmt.Errorf("more than %d blanks in a row", maxBlanks)
		}
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// dense reports whether there are no more blanks in a row than may be.
func (l *lineReader) dense(p []byte) bool {
	for _, c := range p {
		switch {
		case l.quoted:
			l.quoted = c != '"' || l.escaped
			l.escaped = c == '\\' && !l.escaped
		case c <= ' ':
			if l.blanks++; l.blanks > maxBlanks {
				return false
			}
		default:
			l.quoted, l.blanks = c == '"', 0
		}
	}
	return true
}

// token returns the next token.
func (r *jsonReader) token() (json.Token, error) {
	t, err := r.dec.Token()
	return t, r.after(err)
}

// decode reads the next value into one of its type.
func (r *jsonReader) decode(v any) error { return r.after(r.dec.Decode(v)) }

// after is the error behind whatever may call somebody else, who may have ended the allocator.
func (r *jsonReader) after(err error) error {
	if err == io.EOF || err != nil && err.Error() == "unexpected end of JSON input" { // what Go 1.27 says
		err = io.ErrUnexpectedEOF
	}
	if r.w.open >= closedMark {
		return memory.ErrClosed
	}
	return err
}

// delim reads one of the brackets.
func (r *jsonReader) delim(want json.Delim) error {
	t, err := r.token()
	if err == nil && t != want {
		err = fmt.Errorf("%v where %v is due", t, want)
	}
	return err
}

// text reads a string.
func (r *jsonReader) text() (string, error) {
	t, err := r.token()
	if err != nil {
		return "", err
	}
	s, ok := t.(string)
	if !ok {
		return "", fmt.Errorf("%v where a text is due", t)
	}
	return s, nil
}

// number reads a whole number up to most.
func (r *jsonReader) number(most uint64) (n uint64, err error) {
	if n, err = whole[uint64](r); err == nil && n > most {
		err = fmt.Errorf("%d is more than %d", n, most)
	}
	return n, err
}

// whole reads a whole number, and not null, which changes nothing elsewhere.
func whole[T int64 | uint64](r *jsonReader) (n T, err error) {
	p := &n
	if err = r.decode(&p); err == nil && p == nil {
		err = errors.New("null where a number is due")
	}
	return n, err
}

// list reads an array by its elements.
func (r *jsonReader) list(element func() error) error {
	return r.within('[', ']', element)
}

// object reads an object by its members.
func (r *jsonReader) object(member func(name string) error) error {
	return r.within('{', '}', func() error {
		name, err := r.text()
		if err != nil {
			return err
		}
		return member(name)
	})
}

func (r *jsonReader) within(open, end json.Delim, each func() error) error {
	if err := r.delim(open); err != nil {
		return err
	}
	for r.dec.More() {
		if err := each(); err != nil {
			return err
		}
	}
	return r.delim(end)
}

// A member is one of an object that has them in a fixed order.
type member struct {
	name string
	must bool
	read func() error
}

// members reads such an object.
func (r *jsonReader) members(ms ...member) error {
	err := r.object(func(name string) error {
		for len(ms) > 0 {
			m := ms[0]
			if m.name != name && m.must {
				return fmt.Errorf("%q where %q is due", clip(name), m.name)
			}
			if ms = ms[1:]; m.name == name {
				return m.read()
			}
		}
		return fmt.Errorf("%q has no place here", clip(name))
	})
	for _, m := range ms {
		if err == nil && m.must {
			err = fmt.Errorf("%q is missing", m.name)
		}
	}
	return err
}
