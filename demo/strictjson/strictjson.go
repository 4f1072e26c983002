// Package strictjson reads JSON files from untrusted sources. Unknown fields and text after the value are errors. As in
// encoding/json, the case of a field's name does not matter, and of a field that is given twice the last one counts. A
// quote of a file in an error has at most 40 bytes.
package strictjson

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// Decode reads one value into the variable that v points to. The type of v must not contain itself. If anything follows
// the value, Decode fails. After an error the variable may have changed. The error wraps no error of encoding/json.
//
// The result at is an offset in data, for a message. If a byte is not JSON, at is the offset of this byte. If a value
// has a wrong type, at lies in the value or at its end. After other errors, and without an error, at is where reading
// stopped.
func Decode(data []byte, v any) (at int64, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		at := offset(err, d.InputOffset(), int64(len(data)))
		if err = Short(err); strings.HasPrefix(err.Error(), unknown) {
			err = fmt.Errorf("%w; allowed are %s", err, strings.Join(fields(reflect.TypeOf(v)), ", "))
		}
		return at, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return d.InputOffset(), errors.New("something behind the object; allowed is one object")
	}
	return d.InputOffset(), nil
}

// offset returns where in length bytes an error is. A Decoder stops before a value that is not JSON, so it does not say.
func offset(err error, stopped, length int64) int64 {
	if at, ok := SyntaxAt(err, int(length)); ok {
		return int64(at)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return min(wrong.Offset, length)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return length
	}
	return stopped
}

// SyntaxAt returns the offset of the byte that is not JSON. length is the length of the text in bytes. If the text ends
// too early, at is length. If err contains no *json.SyntaxError, ok is false.
func SyntaxAt(err error, length int) (at int, ok bool) {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return 0, false
	}
	at = min(max(int(syntax.Offset), 0), length)
	if at > 0 && !strings.Contains(syntax.Error(), "unexpected end") {
		at-- // the offset is behind the byte that is wrong
	}
	return at, true
}

// fields returns the names of the fields of a type. Those of a field's own type follow it in braces.
func fields(t reflect.Type) (names []string) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return fields(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			tag := f.Tag.Get("json")
			name, _, _ := strings.Cut(tag, ",")
			of := f.Type
			if f.Anonymous && of.Kind() == reflect.Pointer {
				of = of.Elem()
			}
			promoted := f.Anonymous && of.Kind() == reflect.Struct
			if tag == "-" || !promoted && !f.IsExported() {
				continue
			}
			switch inner := fields(f.Type); {
			case name == "" && promoted:
				names = append(names, inner...)
			case inner == nil:
				names = append(names, cmp.Or(name, f.Name))
			default:
				names = append(names, fmt.Sprintf("%s {%s}", cmp.Or(name, f.Name), strings.Join(inner, ", ")))
			}
		}
	}
	return names
}

const (
	quoted  = 40 // bytes of a file that a quote in an error has at most
	unknown = `unknown field "`
)

// Short returns an error with the text of err, an error of encoding/json. The prefix "json: " is removed, and each
// quote of the file is cut to 40 bytes. This includes the quotes of an UnmarshalJSON or UnmarshalText that quotes as %q
// does. The result wraps nothing. err must not be nil.
func Short(err error) error {
	var wrong *json.UnmarshalTypeError
	if number := "number "; errors.As(err, &wrong) && len(wrong.Value) > len(number)+quoted {
		cut := *wrong
		cut.Value = wrong.Value[:len(number)+quoted] + "..."
		err = &cut
	}
	var text strings.Builder
	rest := strings.TrimPrefix(err.Error(), "json: ")
	for {
		i := max(strings.IndexByte(rest, '"'), 0)
		quote, bad := strconv.QuotedPrefix(rest[i:])
		if bad != nil {
			text.WriteString(rest)
			return errors.New(text.String())
		}
		text.WriteString(rest[:i] + cutQuote(quote))
		rest = rest[i+len(quote):]
	}
}

// cutQuote cuts a text in quotes, between two of its characters.
func cutQuote(quote string) string {
	all := quote[1 : len(quote)-1]
	for rest := all; ; {
		_, _, next, err := strconv.UnquoteChar(rest, '"')
		switch {
		case err != nil: // the end
			return quote
		case len(all)-len(next) > quoted:
			return `"` + all[:len(all)-len(rest)] + `..."`
		}
		rest = next
	}
}
