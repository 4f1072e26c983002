package sound

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
)

// header makes a STREAMINFO header.
func header(rate, channels, bits, least, most int, frames uint64) []byte {
	h := make([]byte, headerBytes)
	copy(h, "fLaC")
	h[4], h[7] = 0x80, 34
	b := h[8:]
	b[0], b[1], b[2], b[3] = byte(least>>8), byte(least), byte(most>>8), byte(most)
	b[10], b[11] = byte(rate>>12), byte(rate>>4)
	b[12] = byte(rate<<4) | byte(channels-1)<<1 | byte((bits-1)>>4)
	b[13] = byte(bits-1)<<4 | byte(frames>>32)
	b[14], b[15], b[16], b[17] = byte(frames>>24), byte(frames>>16), byte(frames>>8), byte(frames)
	return h
}

// nowhere is an allocator that must not be asked.
type nowhere struct {
	memory.Allocator
	t testing.TB
}

func TestHeader_RefusesWhatIsNotAllowedBeforeItAllocates(t *testing.T) {
	good := header(22050, 1, 16, 2048, 2048, 1000)
	if _, err := parseHeader((*[headerBytes]byte)(good)); err != nil {
		t.Fatalf("a good header: %v", err)
	}
	with := func(at int, b byte) []byte {
		h := bytes.Clone(good)
		h[at] = b
		return h
	}
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"nothing":         {nil, "ends inside its header"},
		"half":            {good[:20], "ends inside its header"},
		"a WAV":           {append([]byte("RIFF"), good[4:]...), `"RIFF"; a FLAC file begins with "fLaC"`},
		"an ID3":          {append([]byte("ID3\x04"), good[4:]...), `begins with "fLaC"`},
		"another block":   {with(4, 4), "must be STREAMINFO"},
		"long STREAMINFO": {with(5, 1), "must be STREAMINFO"},
		"eight channels":  {header(44100, 8, 16, 2048, 2048, 1000), "8 channels; allowed are 1 and 2"},
		"three channels":  {header(44100, 3, 16, 2048, 2048, 1000), "3 channels; allowed are 1 and 2"},
		"slow":            {header(7999, 1, 16, 2048, 2048, 1000), "7999 Hz; allowed are 8000 to 48000"},
		"fast":            {header(48001, 1, 16, 2048, 2048, 1000), "48001 Hz; allowed are 8000 to 48000"},
		"24 bits":         {header(44100, 1, 24, 2048, 2048, 1000), "24 bits a sample; allowed are 16"},
		"8 bits":          {header(44100, 1, 8, 2048, 2048, 1000), "8 bits a sample; allowed are 16"},
		"large blocks":    {header(44100, 1, 16, 4096, 65535, 1000), "blocks of 4096 to 65535 frames; allowed are 16 to 4608"},
		"tiny blocks":     {header(44100, 1, 16, 4, 2048, 1000), "allowed are 16 to 4608"},
		"wrong blocks":    {header(44100, 1, 16, 4096, 2048, 1000), "allowed are 16 to 4608"},
		"unknown length":  {header(44100, 1, 16, 2048, 2048, 0), "no number of frames"},
		"an hour":         {header(44100, 1, 16, 2048, 2048, 44100*3600), "allowed are 8388608 bytes of samples"},
		"one too many":    {header(44100, 2, 16, 2048, 2048, MaxBytes/4+1), "allowed are 8388608 bytes of samples"},
		"36 bits":         {header(44100, 1, 16, 2048, 2048, 1<<36-1), "allowed are 8388608 bytes of samples"},
	} {
		_, err := Decode(bytes.NewReader(c.data), nowhere{t: t}, nil)
		if !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v; want an ErrFormat", name, err)
			continue
		}
		if !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q does not say %q in one line", name, err, c.says)
		}
	}
}

func TestHeader_ReadsTheLimitsThemselves(t *testing.T) {
	for _, h := range [][]byte{
		header(MinRate, 1, 16, minBlock, minBlock, 1), header(MaxRate, 2, 16, maxBlock, maxBlock, MaxBytes/4),
	} {
		f, err := parseHeader((*[headerBytes]byte)(h))
		if err != nil {
			t.Error(err)
		}
		if f.frames*f.channels*2 > MaxBytes {
			t.Errorf("%+v is more than %d bytes", f, MaxBytes)
		}
	}
}
