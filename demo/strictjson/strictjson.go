// Package strictjson reads JSON files that may come from anywhere. Unknown fields and text behind the value are
// errors, and no error repeats more than 40 bytes of a file.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Decode reads one value into v and nothing after it. It returns the offset at which it stopped.
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

const (
	quoted  = 40  // bytes of a file in an error
	longest = 100 // bytes of an error of encoding/json that quotes less: it names a Go type and a field
)

// Short returns an error of encoding/json with its long quotes cut. That package repeats a number or the name of
// a field whole, however long it is.
func Short(err error) error {
	var wrong *json.UnmarshalTypeError
	if number := "number "; errors.As(err, &wrong) && len(wrong.Value) > len(number)+quoted {
		cut := *wrong
		cut.Value = wrong.Value[:len(number)+quoted] + "..."
		err = &cut
	}
	text := strings.TrimPrefix(err.Error(), "json: ")
	if field := `unknown field "`; strings.HasPrefix(text, field) && len(text) > longest {
		text = strings.ToValidUTF8(text[:len(field)+quoted], "") + `..."`
	}
	return errors.New(text)
}
