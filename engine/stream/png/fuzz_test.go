package png

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// stricter are the reasons for which a file is refused that image/png accepts.
var stricter = []string{unknownCritical, badType, apart, behindStream, longChunk}

// compare holds the Decoder to image/png: what one accepts the other accepts, with the same
// pixels, but for the stated reasons.
func compare(t *testing.T, d *Decoder, file []byte) {
	t.Helper()
	const most = 1 << 16
	if _, err := ReadHeader(bytes.NewReader(file), most); errors.Is(err, ErrTooLarge) {
		return // nor shall image/png try
	}
	var k block
	h, err := d.Decode(bytes.NewReader(file), k.get, most)
	want, size, stdErr := reference(file)
	switch {
	case err == nil && stdErr != nil:
		t.Fatalf("accepted %+v, image/png says %v", h, stdErr)
	case err == nil:
		if h.Width != size.X || h.Height != size.Y || !bytes.Equal(k.pixels(t, h), want) {
			t.Fatalf("%+v: other pixels than image/png", h)
		}
	case stdErr == nil:
		var e *Error
		if !errors.As(err, &e) || !slices.Contains(stricter, e.Problem) {
			t.Fatalf("image/png accepts what is refused: %v", err)
		}
	}
	if k.calls > 1 || err != nil && k.calls == 1 && h == (Header{}) {
		t.Fatalf("dst called %d times, %+v, %v", k.calls, h, err)
	}
	if k.calls == 1 {
		k.pixels(t, h)
	}
}

func FuzzDecode(f *testing.F) {
	rng := rand.New(rand.NewPCG(17, 18))
	for _, k := range kinds {
		for i, front := range fronts(k, rng) {
			f.Add(picture(Header{6, 5, k.depth, k.color, i%2 == 0}, rng, 40, front...))
		}
	}
	small, err := os.ReadFile(art(f)[0])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(small)
	var d Decoder // one for all: what one file leaves behind must not show in the next
	f.Fuzz(func(t *testing.T, file []byte) {
		compare(t, &d, file)
		compare(t, &d, resummed(file))
	})
}

// FuzzPixels gets past the sums and the compression: what varies is the header, the colors
// and the rows themselves.
func FuzzPixels(f *testing.F) {
	rng := rand.New(rand.NewPCG(27, 28))
	for i, k := range kinds {
		h := Header{5, 3 + i%7, k.depth, k.color, i%2 == 0}
		f.Add(byte(h.Width), byte(h.Height), byte(k.depth), byte(k.color), h.Interlaced, random(rng, 12), random(rng, 2), rawRows(h, rng))
	}
	var d Decoder
	f.Fuzz(func(t *testing.T, w, h, depth, color byte, interlaced bool, colors, alphas, raw []byte) {
		var front [][]byte
		if len(colors) > 0 {
			front = append(front, chunk("PLTE", colors))
		}
		if len(alphas) > 0 {
			front = append(front, chunk("tRNS", alphas))
		}
		head := header(Header{int(w), int(h), int(depth), ColorType(color), interlaced})
		compare(t, &d, join(head, front, deflate(raw, 0), 100))
	})
}

// resummed is file with correct checksums, so that damage is not found by them.
func resummed(file []byte) []byte {
	if len(file) < len(signature) {
		return file
	}
	out, rest := bytes.Clone(file[:len(signature)]), file[len(signature):]
	for len(rest) >= 12 {
		n := uint64(rest[0])<<24 | uint64(rest[1])<<16 | uint64(rest[2])<<8 | uint64(rest[3])
		if n > uint64(len(rest)-12) {
			break
		}
		out = append(out, chunk(string(rest[4:8]), rest[8:8+n])...)
		rest = rest[12+n:]
	}
	return append(out, rest...)
}

// Every bit of every byte, with wrong checksums and with corrected ones.
func TestDecode_FlippedBitsAgreeWithImagePNG(t *testing.T) {
	testenv.Long(t)
	rng := rand.New(rand.NewPCG(19, 20))
	var d Decoder
	for _, file := range samples(rng) {
		for i := range file {
			for bit := range 8 {
				file[i] ^= 1 << bit
				compare(t, &d, file)
				compare(t, &d, resummed(file))
				file[i] ^= 1 << bit
			}
		}
	}
}
