package ecs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/strata-go/strata/memory"
)

// A lineReader counts the lines that go through it.
type lineReader struct {
	r     io.Reader
	lines int
}

func (l *lineReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	l.lines += bytes.Count(p[:n], []byte("\n"))
	return n, err
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
	if err = r.decode(&n); err == nil && n > most {
		err = fmt.Errorf("%d is more than %d", n, most)
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
