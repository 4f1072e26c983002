package png

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

const plenty = 1 << 24

// agree fails unless d decodes file to what image/png makes of it.
func agree(t *testing.T, d *Decoder, file []byte) {
	t.Helper()
	want, size, err := reference(file)
	if err != nil {
		t.Fatalf("image/png: %v", err)
	}
	var k block
	h, err := d.Decode(bytes.NewReader(file), k.get, plenty)
	if err != nil {
		t.Fatal(err)
	}
	if (image.Point{X: h.Width, Y: h.Height}) != size || k.calls != 1 {
		t.Fatalf("%v, %d calls of dst; image/png: %v", h, k.calls, size)
	}
	if got := k.pixels(t, h); !bytes.Equal(got, want) {
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%+v: byte %d, pixel (%d, %d), is %#x, with image/png %#x", h, i, i/4%h.Width, i/4/h.Width, got[i], want[i])
			}
		}
	}
}

func art(t testing.TB) []string {
	files, err := filepath.Glob("../../../assets/art/*.png")
	if err != nil || len(files) == 0 {
		t.Fatalf("no pictures: %v", err)
	}
	return files
}

func TestDecode_ArtAgreesWithImagePNG(t *testing.T) {
	var d Decoder
	for _, name := range art(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			file, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			agree(t, &d, file)
		})
	}
}

// One Decoder for all, so that nothing of one picture may show in the next.
func TestDecode_EveryKindAgreesWithImagePNG(t *testing.T) {
	testenv.Long(t)
	rng := rand.New(rand.NewPCG(1, 2))
	var d Decoder
	sizes := []image.Point{{X: 33, Y: 17}, {X: 64, Y: 64}, {X: 257, Y: 3}, {X: 1, Y: 40}}
	for w := 1; w <= 9; w++ {
		for h := 1; h <= 9; h++ {
			sizes = append(sizes, image.Pt(w, h))
		}
	}
	for _, k := range kinds {
		for _, interlaced := range []bool{false, true} {
			t.Run(fmt.Sprintf("color=%d/depth=%d/interlaced=%v", k.color, k.depth, interlaced), func(t *testing.T) {
				for _, s := range sizes {
					for i, front := range fronts(k, rng) {
						h := Header{s.X, s.Y, k.depth, k.color, interlaced}
						agree(t, &d, picture(h, rng, []int{1, 7, 8192}[i%3], front...))
					}
				}
			})
		}
	}
}

// All pairs of a sample and an alpha, since the rounding of each must be image/draw's.
func TestDecode_PremultipliesEveryValueAsImageDraw(t *testing.T) {
	var d Decoder
	raw := make([]byte, 0, 256*(1+256*4))
	for a := range 256 {
		raw = append(raw, filterNone)
		for v := range 256 {
			raw = append(raw, byte(v), byte(255-v), byte(v^a), byte(a))
		}
	}
	agree(t, &d, join(header(Header{256, 256, 8, RGBA, false}), nil, deflate(raw, 1), 8192))
}

func TestDecode_WidestRowsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var d Decoder
	for _, k := range kinds {
		h := Header{8 * MaxRowBytes, 2, k.depth, k.color, false}
		h.Width /= h.bitsPerPixel()
		front := fronts(k, rng)[0]
		agree(t, &d, picture(h, rng, 8192, front...))
		if len(d.cur) > MaxRowBytes || len(d.prev) > MaxRowBytes {
			t.Fatalf("rows of %d and %d bytes are kept", len(d.cur), len(d.prev))
		}
		h.Width++
		file := picture(h, rng, 8192, front...)
		if _, err := d.Decode(bytes.NewReader(file), neverCalled(t), plenty); !errors.Is(err, ErrTooLarge) {
			t.Fatalf("a row of %d pixels of %d bits: %v", h.Width, h.bitsPerPixel(), err)
		}
	}
}

func neverCalled(t *testing.T) func(Header) ([]byte, error) {
	return func(h Header) ([]byte, error) {
		t.Errorf("dst was called for %+v", h)
		return nil, errors.New("refused")
	}
}

func TestDecode_AnyReaderWillDo(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var d Decoder
	file := picture(Header{19, 23, 8, RGBA, true}, rng, 100, chunk("tEXt", random(rng, 300)))
	want, _, err := reference(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]io.Reader{
		"one byte at a time":              iotest.OneByteReader(bytes.NewReader(file)),
		"half of what is asked":           iotest.HalfReader(bytes.NewReader(file)),
		"the end together with data":      iotest.DataErrReader(bytes.NewReader(file)),
		"nothing before each single byte": &lazy{r: bytes.NewReader(file)},
	} {
		var k block
		h, err := d.Decode(r, k.get, plenty)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(k.pixels(t, h), want) {
			t.Fatalf("%s: other pixels", name)
		}
	}
}

// A lazy reader reads nothing every other time.
type lazy struct {
	r    io.Reader
	work bool
}

func (l *lazy) Read(p []byte) (int, error) {
	if l.work = !l.work; l.work || len(p) == 0 {
		return 0, nil
	}
	return l.r.Read(p[:1])
}

func TestDecode_TakesNotAByteBehindTheEnd(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var d Decoder
	one, two := picture(Header{5, 4, 8, RGB, false}, rng, 9), picture(Header{3, 7, 16, GrayAlpha, true}, rng, 9)
	r := bytes.NewReader(append(append(bytes.Clone(one), two...), "rest"...))
	for _, file := range [][]byte{one, two} {
		want, _, err := reference(file)
		if err != nil {
			t.Fatal(err)
		}
		var k block
		h, err := d.Decode(r, k.get, plenty)
		if err != nil || !bytes.Equal(k.pixels(t, h), want) {
			t.Fatalf("%+v, %v", h, err)
		}
	}
	if r.Len() != len("rest") {
		t.Fatalf("%d bytes are left, want 4", r.Len())
	}
}

func TestDecode_ErrorsOfDstComeBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	var d Decoder
	full := errors.New("heap full")
	file := picture(Header{5, 4, 8, RGB, false}, rng, 9)
	h, err := d.Decode(bytes.NewReader(file), func(Header) ([]byte, error) { return nil, full }, plenty)
	if err != full || h.Width != 5 || h.Height != 4 {
		t.Fatalf("%+v, %v", h, err)
	}
	_, err = d.Decode(bytes.NewReader(file), func(h Header) ([]byte, error) { return make([]byte, h.Bytes()-1), nil }, plenty)
	if !errors.Is(err, io.ErrShortBuffer) || err.Error() != "png: the block has 79 bytes, the picture needs 80: short buffer" {
		t.Fatal(err)
	}
	agree(t, &d, file)
}

func TestDecoder_KeepsNothingOfTheCaller(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	var d Decoder
	file := picture(Header{5, 4, 8, RGB, false}, rng, 9)
	agree(t, &d, file)
	if d.s.r != nil || d.pix != nil {
		t.Fatal("the reader or the block is kept")
	}
	if _, err := d.Decode(bytes.NewReader(file[:60]), new(block).get, plenty); err == nil || d.s.r != nil || d.pix != nil {
		t.Fatalf("%v; the reader or the block is kept", err)
	}
}
