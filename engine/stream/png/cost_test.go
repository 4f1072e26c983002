package png

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image"
	"image/draw"
	stdpng "image/png"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// inflateOnly reads the zlib stream of a file with a reused zlib reader, in the steps of Decode. It returns how many
// Go allocations a picture costs there.
func inflateOnly(t *testing.T, stream []byte) float64 {
	src := bytes.NewReader(stream)
	z, err := zlib.NewReader(src)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	return testing.AllocsPerRun(20, func() {
		src.Reset(stream)
		if err := z.(zlib.Resetter).Reset(src, nil); err != nil {
			t.Fatal(err)
		}
		for err = nil; err == nil; {
			_, err = z.Read(buf)
		}
		if err != io.EOF {
			t.Fatal(err)
		}
	})
}

func streamOf(file []byte) (stream []byte) {
	for rest := file[len(signature):]; len(rest) > 0; {
		n := int(rest[0])<<24 | int(rest[1])<<16 | int(rest[2])<<8 | int(rest[3])
		if string(rest[4:8]) == "IDAT" {
			stream = append(stream, rest[8:8+n]...)
		}
		rest = rest[12+n:]
	}
	return stream
}

func TestDecoder_AllocatesForZlibOnly(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	h := Header{64, 64, 8, RGBA, false}
	files := map[string][]byte{
		"stored":         join(header(h), nil, deflate(rawRows(h, rng), zlib.NoCompression), 8192),
		"dynamic blocks": join(header(h), nil, deflate(rawRows(h, rng), zlib.BestCompression), 8192),
		"one color":      join(header(h), nil, deflate(make([]byte, 64*257), zlib.BestCompression), 8192),
		"interlaced":     picture(Header{64, 64, 16, RGB, true}, rng, 100, chunk("tRNS", make([]byte, 6))),
	}
	for _, name := range art(t)[:3] {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = file
	}
	var d Decoder
	block := make([]byte, 4<<20)
	dst := func(h Header) ([]byte, error) { return block, nil }
	for name, file := range files {
		src := bytes.NewReader(nil)
		decode := func() {
			src.Reset(file)
			if _, err := d.Decode(src, dst, plenty); err != nil {
				t.Fatal(err)
			}
		}
		decode()
		got, want := testing.AllocsPerRun(20, decode), inflateOnly(t, streamOf(file))
		t.Logf("%s: %v Go allocations a picture", name, got)
		if got != want {
			t.Errorf("%s: %v Go allocations, the zlib reader alone %v", name, got, want)
		}
		if name == "stored" && got != 1 {
			t.Errorf("%s: %v Go allocations, want that of the stream's sum", name, got)
		}
	}
}

func TestReadHeader_AllocatesOnce(t *testing.T) {
	file := append([]byte(signature), header(Header{3, 3, 8, RGB, false})...)
	src := bytes.NewReader(nil)
	if n := testing.AllocsPerRun(100, func() {
		src.Reset(file)
		if _, err := ReadHeader(src, 9); err != nil {
			t.Fatal(err)
		}
	}); n > 1 {
		t.Errorf("%v Go allocations", n)
	}
}

// What the doc comment of Decoder says it keeps.
func TestDecoder_KeepsWhatItSays(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	file := picture(Header{8192, 1, 16, RGBA, false}, rng, 8192)
	block := make([]byte, 4*8192)
	dst := func(Header) ([]byte, error) { return block, nil }
	live := func() uint64 {
		var m runtime.MemStats
		for range 3 { // sync.Pools empty themselves in two
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var ds [16]*Decoder // many, so that what others keep or drop does not matter
	before := live()
	for i := range ds {
		ds[i] = new(Decoder)
		if _, err := ds[i].Decode(bytes.NewReader(file), dst, plenty); err != nil {
			t.Fatal(err)
		}
	}
	kept := (live() - before) / uint64(len(ds))
	runtime.KeepAlive(&ds)
	runtime.KeepAlive(block)
	runtime.KeepAlive(file)
	t.Logf("%d bytes each, and two rows of %d", kept-2*MaxRowBytes, MaxRowBytes)
	if kept < 2*MaxRowBytes || kept > 2*MaxRowBytes+64<<10 {
		t.Errorf("%d bytes are kept", kept)
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, name := range []string{"vignette.png", "warden.png", "portal.png"} {
		file, err := os.ReadFile("../../../assets/art/" + name)
		if err != nil {
			b.Fatal(err)
		}
		h, err := ReadHeader(bytes.NewReader(file), plenty)
		if err != nil {
			b.Fatal(err)
		}
		block := make([]byte, h.Bytes())
		src := bytes.NewReader(nil)
		run := func(way string, decode func() error) {
			b.Run(fmt.Sprintf("picture=%s/%s", name, way), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(h.Bytes()))
				for b.Loop() {
					src.Reset(file)
					if err := decode(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		var d Decoder
		run("strata", func() error {
			_, err := d.Decode(src, func(Header) ([]byte, error) { return block, nil }, plenty)
			return err
		})
		run("image-png-and-draw", func() error {
			img, err := stdpng.Decode(src)
			if err == nil {
				dst := image.RGBA{Pix: block, Stride: 4 * h.Width, Rect: image.Rect(0, 0, h.Width, h.Height)}
				draw.Draw(&dst, dst.Rect, img, img.Bounds().Min, draw.Src)
			}
			return err
		})
		z, err := zlib.NewReader(bytes.NewReader(streamOf(file)))
		if err != nil {
			b.Fatal(err)
		}
		stream, buf := streamOf(file), make([]byte, 4*h.Width)
		run("inflating-alone", func() error {
			src.Reset(stream)
			if err := z.(zlib.Resetter).Reset(src, nil); err != nil {
				return err
			}
			for {
				if _, err := z.Read(buf); err != nil {
					if err == io.EOF {
						err = nil
					}
					return err
				}
			}
		})
	}
}
