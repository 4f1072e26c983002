package png

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadHeader_RefusesWhatIsHostile(t *testing.T) {
	for _, c := range []struct {
		name  string
		chunk []byte
		err   error
		says  string
	}{
		{"no width", ihdrChunk(0, 1, 8, 6, 0, 0, 0), ErrFormat, "0 x 1 pixels, allowed are 1 to 2147483647"},
		{"no height", ihdrChunk(1, 0, 8, 6, 0, 0, 0), ErrFormat, "1 x 0 pixels"},
		{"negative", ihdrChunk(1<<31, 1, 1, 0, 0, 0, 0), ErrFormat, "2147483648 x 1 pixels"},
		{"all bits", ihdrChunk(math.MaxUint32, math.MaxUint32, 16, 6, 0, 0, 0), ErrFormat, "4294967295 x 4294967295"},
		{"largest", ihdrChunk(math.MaxInt32, math.MaxInt32, 16, 6, 0, 0, 0), ErrTooLarge, "allowed are 1000 in all"},
		{"product 0 in 32 bits", ihdrChunk(1<<16, 1<<16, 1, 0, 0, 0, 0), ErrTooLarge, "65536 x 65536 pixels"},
		{"bytes 0 in 32 bits", ihdrChunk(1<<15, 1<<15, 1, 0, 0, 0, 0), ErrTooLarge, "32768 x 32768 pixels"},
		{"one too many", ihdrChunk(7, 143, 8, 6, 0, 0, 0), ErrTooLarge, "7 x 143 pixels, allowed are 1000 in all"},
		{"three bits", ihdrChunk(1, 1, 3, 0, 0, 0, 0), ErrFormat, "color type 0 with 3 bits"},
		{"palette of 16 bits", ihdrChunk(1, 1, 16, 3, 0, 0, 0), ErrFormat, "color type 3 with 16 bits"},
		{"color type 1", ihdrChunk(1, 1, 8, 1, 0, 0, 0), ErrFormat, "color type 1"},
		{"compression", ihdrChunk(1, 1, 8, 6, 1, 0, 0), ErrFormat, "compression 1, filter 0, interlace 0"},
		{"filter", ihdrChunk(1, 1, 8, 6, 0, 1, 0), ErrFormat, "filter 1"},
		{"interlace", ihdrChunk(1, 1, 8, 6, 0, 0, 2), ErrFormat, "interlace 2"},
		{"long", chunk("IHDR", make([]byte, 14)), ErrFormat, badLength},
		{"gigabytes", []byte("\x7f\xff\xff\xffIHDR"), ErrFormat, badLength},
		{"another chunk", chunk("IDAT", nil), ErrFormat, wrongOrder},
		{"none", nil, io.ErrUnexpectedEOF, truncated},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := append([]byte(signature), c.chunk...)
			h, err := ReadHeader(bytes.NewReader(file), 1000)
			if !errors.Is(err, c.err) || !strings.Contains(fmt.Sprint(err), c.says) || h != (Header{}) {
				t.Errorf("ReadHeader: %+v, %v; want %v, %q", h, err, c.err, c.says)
			}
			var d Decoder
			if h, err := d.Decode(bytes.NewReader(file), neverCalled(t), 1000); !errors.Is(err, c.err) || h != (Header{}) {
				t.Errorf("Decode: %+v, %v", h, err)
			}
			if d.cur != nil || d.z != nil {
				t.Error("something was allocated")
			}
		})
	}
}

func TestReadHeader_HoldsTheLimitsOfInt(t *testing.T) {
	file := append([]byte(signature), ihdrChunk(1<<16, 1<<13, 8, 3, 0, 0, 0)...) // 2 GiB of RGBA
	h, err := ReadHeader(bytes.NewReader(file), math.MaxInt)
	if small := math.MaxInt == math.MaxInt32; small != errors.Is(err, ErrTooLarge) || !small && err != nil {
		t.Fatalf("%+v, %v", h, err)
	}
	for _, most := range []int{0, -1, math.MinInt} {
		if _, err := ReadHeader(bytes.NewReader(append([]byte(signature), ihdrChunk(1, 1, 8, 6, 0, 0, 0)...)), most); !errors.Is(err, ErrTooLarge) {
			t.Errorf("one pixel, maxPixels %d: %v", most, err)
		}
	}
}

func TestReadHeader_TakesTheHeaderAndNoMore(t *testing.T) {
	want := Header{7, 9, 4, Palette, true}
	r := bytes.NewReader(append(append([]byte(signature), header(want)...), "rest"...))
	h, err := ReadHeader(r, 63)
	if err != nil || h != want || r.Len() != 4 || h.Bytes() != 4*63 {
		t.Fatalf("%+v, %v, %d bytes left", h, err, r.Len())
	}
}

// A broken file, what is said of it, and whether image/png takes it.
func TestDecode_RefusesBrokenFiles(t *testing.T) {
	head, raw := header(Header{2, 2, 8, Gray, false}), []byte{0, 1, 2, 0, 3, 4}
	z, end, colors := deflate(raw, 1), chunk("IEND", nil), chunk("PLTE", make([]byte, 3))
	pal, rgba := header(Header{2, 2, 2, Palette, false}), header(Header{2, 2, 8, RGBA, false})
	data := chunk("IDAT", z)
	wrong := func(b []byte, at int) []byte { b = bytes.Clone(b); b[at] ^= 0x10; return b }
	for _, c := range []struct {
		name  string
		parts [][]byte
		says  string
		std   bool
	}{
		{"good", [][]byte{head, data, end}, "", true},
		{"trailing IDAT", [][]byte{head, data, chunk("IDAT", nil), chunk("IDAT", []byte("x")), end}, "", true},
		{"IDAT apart", [][]byte{head, data, chunk("tEXt", nil), chunk("IDAT", nil), end}, apart, true},
		{"unknown critical", [][]byte{head, chunk("CRIT", nil), data, end}, unknownCritical, true},
		{"unknown critical behind", [][]byte{head, data, chunk("CRIT", nil), end}, unknownCritical, true},
		{"unknown ancillary", [][]byte{head, chunk("crIT", nil), data, chunk("crIT", make([]byte, 40000)), end}, "", true},
		{"type of digits", [][]byte{head, chunk("t3xt", nil), data, end}, badType, true},
		{"bytes behind the stream", [][]byte{head, chunk("IDAT", append(bytes.Clone(z), 0)), end}, behindStream, true},
		{"many bytes behind the stream", [][]byte{head, chunk("IDAT", append(bytes.Clone(z), make([]byte, 1<<16)...)), end}, behindStream, false},
		{"a row too many", [][]byte{head, chunk("IDAT", deflate(append(bytes.Clone(raw), 0, 5, 6), 1)), end}, tooManyBytes, false},
		{"a row too few", [][]byte{head, chunk("IDAT", deflate(raw[:3], 1)), end}, noMoreIDAT, false},
		{"half a row", [][]byte{head, chunk("IDAT", deflate(raw[:5], 1)), end}, noMoreIDAT, false},
		{"half a stream", [][]byte{head, chunk("IDAT", z[:len(z)/2]), end}, noMoreIDAT, false},
		{"no stream", [][]byte{head, chunk("IDAT", nil), end}, noMoreIDAT, false},
		{"filter 5", [][]byte{head, chunk("IDAT", deflate([]byte{0, 1, 2, 5, 3, 4}, 1)), end}, badFilter, false},
		{"sum of the stream", [][]byte{head, chunk("IDAT", wrong(z, len(z)-1)), end}, "the checksum of the pixel data", false},
		{"header of the stream", [][]byte{head, chunk("IDAT", wrong(z, 0)), end}, "the pixel data is damaged: zlib: invalid header", false},
		{"sum of IHDR", [][]byte{wrong(head, len(head)-1), data, end}, badSum, false},
		{"sum of IDAT", [][]byte{head, wrong(data, len(data)-1), end}, badSum, false},
		{"sum of tEXt", [][]byte{head, wrong(chunk("tEXt", nil), 10), data, end}, badSum, false},
		{"sum of IEND", [][]byte{head, data, wrong(end, 11)}, badSum, false},
		{"IEND with data", [][]byte{head, data, chunk("IEND", []byte("x"))}, badLength, false},
		{"no IEND", [][]byte{head, data}, truncated, false},
		{"no IDAT", [][]byte{head, end}, wrongOrder, false},
		{"two headers", [][]byte{head, head, data, end}, wrongOrder, false},
		{"header behind", [][]byte{head, data, head, end}, wrongOrder, false},
		{"palette missing", [][]byte{pal, data, end}, wrongOrder, false},
		{"palette behind", [][]byte{header(Header{2, 2, 8, Palette, false}), colors, data, colors, end}, wrongOrder, false},
		{"two palettes", [][]byte{pal, colors, colors, data, end}, wrongOrder, false},
		{"palette of a gray", [][]byte{head, colors, data, end}, misplaced, false},
		{"palette empty", [][]byte{pal, chunk("PLTE", nil), data, end}, badLength, false},
		{"palette of 4 bytes", [][]byte{pal, chunk("PLTE", make([]byte, 4)), data, end}, badLength, false},
		{"palette of 5 for 2 bits", [][]byte{pal, chunk("PLTE", make([]byte, 15)), data, end}, badLength, false},
		{"palette of 257", [][]byte{rgba, chunk("PLTE", make([]byte, 771)), data, end}, badLength, false},
		{"palette of 257 for 16 bits", [][]byte{header(Header{2, 2, 16, RGBA, false}), chunk("PLTE", make([]byte, 771)), data, end}, badLength, false},
		{"palette of a gray with alpha", [][]byte{header(Header{2, 2, 8, GrayAlpha, false}), colors, data, end}, misplaced, false},
		{"tRNS before PLTE of RGB", [][]byte{header(Header{2, 2, 8, RGB, false}), chunk("tRNS", make([]byte, 6)), colors, data, end}, wrongOrder, false},
		{"tRNS before PLTE", [][]byte{pal, chunk("tRNS", nil), colors, data, end}, wrongOrder, false},
		{"tRNS behind", [][]byte{head, data, chunk("tRNS", make([]byte, 2)), end}, wrongOrder, false},
		{"two tRNS", [][]byte{head, chunk("tRNS", make([]byte, 2)), chunk("tRNS", make([]byte, 2)), data, end}, wrongOrder, false},
		{"tRNS of 1 byte", [][]byte{head, chunk("tRNS", make([]byte, 1)), data, end}, badLength, false},
		{"tRNS of 257", [][]byte{pal, colors, chunk("tRNS", make([]byte, 257)), data, end}, badLength, false},
		{"tRNS beside alpha", [][]byte{rgba, chunk("tRNS", make([]byte, 2)), data, end}, misplaced, false},
		{"long chunk", [][]byte{head, []byte("\x80\x00\x00\x00tEXt"), data, end}, longChunk, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := append([]byte(signature), bytes.Join(c.parts, nil)...)
			if _, _, err := reference(file); (err == nil) != c.std {
				t.Errorf("image/png: %v", err)
			}
			var d Decoder
			_, err := d.Decode(bytes.NewReader(file), new(block).get, 4)
			var e *Error
			switch {
			case c.says == "" && err != nil:
				t.Error(err)
			case c.says != "" && (!errors.As(err, &e) || !strings.HasPrefix(e.Problem, c.says)):
				t.Errorf("%v, want %q", err, c.says)
			case c.says != "" && c.says != truncated && !errors.Is(err, ErrFormat):
				t.Errorf("%v is no ErrFormat", err)
			}
			agree(t, &d, append([]byte(signature), bytes.Join([][]byte{head, data, end}, nil)...)) // the next is fine
		})
	}
}

// Whether the bytes behind the stream were read already must not matter.
func TestDecode_RefusesBytesBehindTheStreamFromAnyReader(t *testing.T) {
	stream := append(deflate([]byte{0, 1, 2, 0, 3, 4}, 1), 0)
	file := join(header(Header{2, 2, 8, Gray, false}), nil, stream, 1000)
	_, err := new(Decoder).Decode(iotest.OneByteReader(bytes.NewReader(file)), new(block).get, plenty)
	var e *Error
	if !errors.As(err, &e) || e.Problem != behindStream {
		t.Fatal(err)
	}
}

func samples(rng *rand.Rand) [][]byte {
	return [][]byte{
		picture(Header{9, 9, 8, RGBA, true}, rng, 50),
		picture(Header{9, 9, 4, Palette, false}, rng, 50, chunk("PLTE", random(rng, 48)), chunk("tRNS", random(rng, 5))),
		picture(Header{5, 5, 16, RGB, false}, rng, 1000, chunk("tEXt", random(rng, 30)), chunk("tRNS", random(rng, 6))),
	}
}

func TestDecode_EndAtEveryByteIsUnexpected(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	var d Decoder
	for _, file := range samples(rng) {
		for n := range file {
			for _, end := range []error{io.EOF, io.ErrUnexpectedEOF} {
				var k block
				h, err := d.Decode(io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(end)), k.get, plenty)
				var e *Error
				if !errors.Is(err, io.ErrUnexpectedEOF) || !errors.As(err, &e) || e.Offset != int64(n) || e.Problem != truncated {
					t.Fatalf("%d of %d bytes: %v", n, len(file), err)
				}
				if k.calls > 0 {
					k.pixels(t, h)
				}
			}
		}
		agree(t, &d, file)
	}
}

// A failing reader gives n bytes, the last of them together with its error when it is eager.
type failing struct {
	b     []byte
	err   error
	eager bool
}

func (f *failing) Read(p []byte) (int, error) {
	n := copy(p, f.b)
	f.b = f.b[n:]
	if len(f.b) == 0 && (f.eager || n == 0) {
		return n, f.err
	}
	return n, nil
}

func TestDecode_ErrorsOfTheReaderComeBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	cancelled := errors.New("level was left")
	var d Decoder
	for _, file := range samples(rng) {
		for n := range file {
			for _, eager := range []bool{false, true} {
				_, err := d.Decode(&failing{file[:n], cancelled, eager && n > 0}, new(block).get, plenty)
				if !errors.Is(err, cancelled) || errors.Is(err, ErrFormat) || errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("after %d bytes: %v", n, err)
				}
			}
		}
		agree(t, &d, file)
	}
}

func TestDecode_SaysWhereItFailed(t *testing.T) {
	raw := []byte{0, 1, 2, 0, 3, 4, 9, 5, 6}
	file := join(header(Header{2, 3, 8, Gray, false}), nil, deflate(raw, 0), 1000)
	_, err := new(Decoder).Decode(bytes.NewReader(file), new(block).get, plenty)
	if want := `png: byte 66, chunk "IDAT", row 2: unknown filter, allowed are 0 to 4: not a valid PNG`; fmt.Sprint(err) != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	for row, want := range map[int]string{0: `, row 0: the file ends early`, -1: `chunk "IEND": the file ends early`} {
		whole := join(header(Header{2, 3, 8, Gray, false}), nil, deflate(make([]byte, 9), 0), 1000)
		cut := len(whole) - 1
		if row == 0 {
			cut = 50
		}
		_, err = new(Decoder).Decode(bytes.NewReader(whole[:cut]), new(block).get, plenty)
		var e *Error
		if !errors.As(err, &e) || e.Row != row || !strings.Contains(e.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	_, err = ReadHeader(strings.NewReader(signature[:3]), plenty)
	if want := "png: byte 3: the file ends early: unexpected EOF"; fmt.Sprint(err) != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestDecode_EndsWithAReaderThatBreaksItsContract(t *testing.T) {
	for name, f := range map[string]readerFunc{
		"nothing, for ever": func([]byte) (int, error) { return 0, nil },
		"more than asked":   func(p []byte) (int, error) { return len(p) + 1, nil },
		"less than nothing": func([]byte) (int, error) { return -1, nil },
	} {
		_, err := new(Decoder).Decode(f, neverCalled(t), plenty)
		var e *Error
		if !errors.As(err, &e) || name == "nothing, for ever" && !errors.Is(err, io.ErrNoProgress) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
