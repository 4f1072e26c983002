package wav

import (
	"bytes"
	"testing"
)

func TestWrite_HeaderAndSamples(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, 44100, 2, []int16{1, -2, 0x7fff, -0x8000}); err != nil {
		t.Fatal(err)
	}
	want := "RIFF\x2c\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x02\x00\x44\xac\x00\x00\x10\xb1\x02\x00\x04\x00\x10\x00" +
		"data\x08\x00\x00\x00\x01\x00\xfe\xff\xff\x7f\x00\x80"
	if b.String() != want {
		t.Errorf("%q; want %q", b.String(), want)
	}
}
