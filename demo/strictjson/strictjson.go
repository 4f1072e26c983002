// Package strictjson reads JSON files from untrusted sources. Unknown fields and text after the value are errors, and
// no error repeats more than 40 bytes of a file.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Decode reads one value into v. If anything follows the value, Decode fails. It returns the offset in data at which it
// stopped, for a message.
func Decode(data []byte, v any) (at int64, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return d.InputOffset(), Short(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return d.InputOffset(), errors.New("something behind the object; allowed is one object")
	}
	return d.InputOffset(), nil
}

// quoted is how many bytes of a file an error repeats at most.
const quoted = 40

// Short returns an error of encoding/json with its long quotes cut. Package encoding/json quotes a number or the name
// of a field in full length. The result has only the text of err, and wraps nothing.
func Short(err error) error {
	var wrong *json.UnmarshalTypeError
	if number := "number "; errors.As(err, &wrong) && len(wrong.Value) > len(number)+quoted {
		cut := *wrong
		cut.Value = wrong.Value[:len(number)+quoted] + "..."
		err = &cut
	}
	text := strings.TrimPrefix(err.Error(), "json: ")
	if field := `unknown field "`; strings.HasPrefix(text, field) && len(text) > len(field)+quoted+len(`"`) {
		text = strings.ToValidUTF8(text[:len(field)+quoted], "") + `..."`
	}
	return errors.New(text)
}
