package main

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
)

// A page stores text, and a browser counts two bytes for each UTF-16 unit of it: Chromium allows 5 Mi units. So saved
// runs are compressed, and a unit has 15 bits, from textFirst on. These units are no surrogates. Older runs are in
// base64.

const (
	textFirst = 0x3400
	textBits  = 15
)

// packText returns data as text for the store of a page.
func packText(data []byte) ([]byte, error) {
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	text.Grow(packed.Len()*8/textBits*3 + 3)
	bits, n := uint32(0), 0
	for _, b := range packed.Bytes() {
		bits, n = bits<<8|uint32(b), n+8
		if n >= textBits {
			n -= textBits
			text.WriteRune(textFirst + rune(bits>>n&(1<<textBits-1)))
		}
	}
	if n > 0 {
		text.WriteRune(textFirst + rune(bits<<(textBits-n)&(1<<textBits-1)))
	}
	return text.Bytes(), nil
}

// unpackText returns the data of a text of packText, at most most bytes.
func unpackText(text []byte, most int) ([]byte, error) {
	if len(text) > 0 && text[0] < 0x80 {
		return base64.StdEncoding.DecodeString(string(text))
	}
	packed := make([]byte, 0, len(text)/3*2)
	bits, n := uint32(0), 0
	for _, r := range string(text) {
		v := r - textFirst
		if v < 0 || v >= 1<<textBits {
			return nil, errors.New("the text of the run is damaged")
		}
		for bits, n = bits<<textBits|uint32(v), n+textBits; n >= 8; {
			n -= 8
			packed = append(packed, byte(bits>>n))
		}
	}
	data, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), int64(most)+1))
	if err != nil {
		return nil, fmt.Errorf("the text of the run is damaged: %w", err)
	}
	if len(data) > most {
		return nil, fmt.Errorf("more than %d bytes", most)
	}
	return data, nil
}
