package main

import (
	"bytes"
	"encoding/base64"
	"math/rand/v2"
	"testing"
	"unicode/utf16"
)

func TestSaveText_GivesTheSameBytesBack(t *testing.T) {
	rng := rand.NewChaCha8([32]byte{1})
	for n := range 40 {
		data := make([]byte, n*n)
		_, _ = rng.Read(data) // it never fails
		text, err := packText(data)
		if err != nil {
			t.Fatal(err)
		}
		back, err := unpackText(text, len(data))
		if err != nil || !bytes.Equal(back, data) {
			t.Fatalf("%d bytes: %v", len(data), err)
		}
		for _, r := range string(text) {
			if utf16.RuneLen(r) != 1 {
				t.Fatalf("%d bytes: rune %#x", len(data), r)
			}
		}
		if n > 0 {
			if _, err := unpackText(text, len(data)-1); err == nil {
				t.Errorf("%d bytes are more than allowed", len(data))
			}
		}
	}
}

// The state of a game compresses, but that of random bytes is the bound: 8 bits of 15 in each unit, and base64 has 6 of
// 16.
func TestSaveText_TakesLessThanBase64(t *testing.T) {
	rng := rand.NewChaCha8([32]byte{2})
	data := make([]byte, 50_000)
	_, _ = rng.Read(data) // it never fails
	text, err := packText(data)
	if err != nil {
		t.Fatal(err)
	}
	if got, most := len(utf16.Encode([]rune(string(text)))), len(data)*8/textBits+100; got > most {
		t.Errorf("%d units, want at most %d", got, most)
	}
}

func TestSaveText_ReadsBase64AndRefusesDamage(t *testing.T) {
	data := []byte("strata\x00G of an older build")
	if back, err := unpackText([]byte(base64.StdEncoding.EncodeToString(data)), 1000); err != nil || !bytes.Equal(back, data) {
		t.Errorf("%q, %v", back, err)
	}
	text, err := packText(bytes.Repeat(data, 9))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{string(text[:len(text)/6*3]), string(text[:3]) + "é" + string(text[3:]), "é", "\xff"} {
		if _, err := unpackText([]byte(bad), 1000); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
