// Package jsonio reads JSON documents whose objects have their members in a fixed order. Errors have
// the line and byte. It also has the parts of the ecs text format that do not touch a world. These are
// runs of slots, generations by slot, and the check for types that JSON would truncate.
package jsonio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// A Reader reads one document token by token.
type Reader struct {
	Where string // what is being read; a prefix of errors from At
	in    lineReader
	dec   *json.Decoder
	stop  func() error
}

// NewReader returns a reader of in. The Reader calls stop after each token and each value. If stop returns an error,
// the Reader returns this error instead of its own.
func NewReader(in io.Reader, stop func() error) *Reader {
	r := &Reader{in: lineReader{r: in}, stop: stop}
	r.dec = json.NewDecoder(&r.in)
	r.dec.DisallowUnknownFields()
	return r
}

// At adds Where and the current line and byte to err.
func (r *Reader) At(err error) error {
	waiting := 0
	if rest, ok := r.dec.Buffered().(*bytes.Reader); ok {
		text, _ := io.ReadAll(rest)
		waiting = bytes.Count(text, []byte("\n"))
	}
	if r.Where != "" {
		err = fmt.Errorf("%s: %w", r.Where, err)
	}
	return fmt.Errorf("line %d, byte %d: %w", r.in.lines-waiting+1, r.dec.InputOffset(), err)
}

// Offset returns the number of bytes up to the end of the last token or value.
func (r *Reader) Offset() int64 { return r.dec.InputOffset() }

// More reports whether the current array or object has another element.
func (r *Reader) More() bool { return r.dec.More() }

// Decode reads the next value into the variable that v points to. Unknown fields are errors.
func (r *Reader) Decode(v any) error { return r.After(r.dec.Decode(v)) }

// After returns the error of stop if there is one, otherwise err. It turns the end of the text into
// io.ErrUnexpectedEOF and shortens numbers that err quotes.
func (r *Reader) After(err error) error {
	if wrong, ok := err.(*json.UnmarshalTypeError); ok { // it repeats all digits of a number
		short := *wrong
		short.Value = Clip(wrong.Value)
		err = &short
	}
	if err == io.EOF || err != nil && err.Error() == "unexpected end of JSON input" { // Go 1.27
		err = io.ErrUnexpectedEOF
	}
	if ended := r.stop(); ended != nil {
		return ended
	}
	return err
}

// End returns an error unless the document ends here.
func (r *Reader) End() error {
	t, err := r.dec.Token()
	if err == io.EOF {
		return r.After(nil)
	}
	if err = r.After(err); err == nil {
		err = fmt.Errorf("%s after the end of the document", quoted(t))
	}
	return err
}

func (r *Reader) token() (json.Token, error) {
	t, err := r.dec.Token()
	return t, r.After(err)
}

// Delim reads one bracket. Any other token is an error.
func (r *Reader) Delim(want json.Delim) error {
	t, err := r.token()
	if err == nil && t != want {
		err = fmt.Errorf("%s instead of %v", quoted(t), want)
	}
	return err
}

// Text reads a string. Any other token is an error.
func (r *Reader) Text() (string, error) {
	t, err := r.token()
	if err != nil {
		return "", err
	}
	s, ok := t.(string)
	if !ok {
		return "", fmt.Errorf("%s instead of a string", quoted(t))
	}
	return s, nil
}

// Number reads an integer from 0 to most.
func (r *Reader) Number(most uint64) (n uint64, err error) {
	if n, err = Whole[uint64](r); err == nil && n > most {
		err = fmt.Errorf("%d is more than %d", n, most)
	}
	return n, err
}

// Whole reads an integer. It rejects null, which encoding/json ignores.
func Whole[T int64 | uint64](r *Reader) (n T, err error) {
	p := &n
	if err = r.Decode(&p); err == nil && p == nil {
		err = errors.New("null instead of a number")
	}
	return n, err
}

// List reads an array and calls element for each element.
func (r *Reader) List(element func() error) error { return r.within('[', ']', element) }

// Object reads an object and calls member for each member, after its name.
func (r *Reader) Object(member func(name string) error) error {
	return r.within('{', '}', func() error {
		name, err := r.Text()
		if err != nil {
			return err
		}
		return member(name)
	})
}

func (r *Reader) within(open, end json.Delim, each func() error) error {
	if err := r.Delim(open); err != nil {
		return err
	}
	for r.dec.More() {
		if err := each(); err != nil {
			return err
		}
	}
	return r.Delim(end)
}

// A Member is one member of an object whose members have a fixed order.
type Member struct {
	Name string
	Must bool // its absence is an error
	Read func() error
}

// Members reads an object whose members are among these, in this order. It returns an error if a member is unknown or
// a Must is missing.
func (r *Reader) Members(ms ...Member) error {
	err := r.Object(func(name string) error {
		for len(ms) > 0 {
			m := ms[0]
			if m.Name != name && m.Must {
				return fmt.Errorf("%q instead of %q", Clip(name), m.Name)
			}
			if ms = ms[1:]; m.Name == name {
				return m.Read()
			}
		}
		return fmt.Errorf("%q is not allowed here", Clip(name))
	})
	for _, m := range ms {
		if err == nil && m.Must {
			err = fmt.Errorf("%q is missing", m.Name)
		}
	}
	return err
}

// Clip returns a text for errors that quote it: at most 40 bytes, followed by … if the text is longer.
func Clip[T ~string | ~[]byte](text T) string {
	if len(text) > 40 {
		return string(text[:40]) + "…"
	}
	return string(text)
}

// quoted returns a token as errors contain it.
func quoted(t json.Token) string {
	switch t := t.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(Clip(t))
	}
	return fmt.Sprint(t)
}

// MaxBlanks bounds the consecutive blanks between tokens. encoding/json buffers all of them, and
// scans them again after each read.
const MaxBlanks = 64 << 10

// A lineReader counts lines.
type lineReader struct {
	r       io.Reader
	lines   int
	blanks  int  // consecutive, up to the last byte read
	quoted  bool // inside a string
	escaped bool // after a backslash in one
}

func (l *lineReader) Read(p []byte) (int, error) {
	for range 100 { // the limit of bufio
		n, err := l.r.Read(p)
		l.lines += bytes.Count(p[:n], []byte("\n"))
		if !l.dense(p[:n]) {
			return 0, fmt.Errorf("more than %d consecutive blanks", MaxBlanks)
		}
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// dense reports whether no run of blanks is longer than MaxBlanks.
func (l *lineReader) dense(p []byte) bool {
	for _, c := range p {
		switch {
		case l.quoted:
			l.quoted = c != '"' || l.escaped
			l.escaped = c == '\\' && !l.escaped
		case c <= ' ':
			if l.blanks++; l.blanks > MaxBlanks {
				return false
			}
		default:
			l.quoted, l.blanks = c == '"', 0
		}
	}
	return true
}
