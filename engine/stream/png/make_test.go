package png

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/draw"
	stdpng "image/png"
	"math/rand/v2"
	"testing"
)

// chunk is one chunk of a file, with its right sum.
func chunk(name string, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, name...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

func ihdrChunk(w, h uint32, depth, color, compression, filter, interlace byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, w)
	b = binary.BigEndian.AppendUint32(b, h)
	return chunk("IHDR", append(b, depth, color, compression, filter, interlace))
}

func header(h Header) []byte {
	var interlace byte
	if h.Interlaced {
		interlace = 1
	}
	return ihdrChunk(uint32(h.Width), uint32(h.Height), byte(h.Depth), byte(h.Color), 0, 0, interlace)
}

// rawRows is what a picture's zlib stream holds: any bytes are rows of pixels, as long as each
// row begins with a filter. Pixels are drawn from few values, too, so that alphas of 0 and 255
// and the transparent color occur.
func rawRows(h Header, rng *rand.Rand) []byte {
	var raw []byte
	row := func(n int) {
		raw = append(raw, byte(rng.IntN(5)))
		few := rng.IntN(3) > 0
		for range (n*h.bitsPerPixel() + 7) / 8 {
			b := byte(rng.Uint32())
			if few {
				b = [4]byte{0, 1, 0xff, 0x80}[b&3]
			}
			raw = append(raw, b)
		}
	}
	if !h.Interlaced {
		for range h.Height {
			row(h.Width)
		}
		return raw
	}
	for pass := 1; pass <= 7; pass++ { // the table of the standard, said another way
		for y := range h.Height {
			n := 0
			for x := range h.Width {
				if passOf(x, y) == pass {
					n++
				}
			}
			if n > 0 {
				row(n)
			}
		}
	}
	return raw
}

// passOf is the picture of the standard's section 8.2.
func passOf(x, y int) int {
	return int([8]string{"16462646", "77777777", "56565656", "77777777", "36463646", "77777777", "56565656", "77777777"}[y%8][x%8] - '0')
}

// writers are one per level, since each is a megabyte.
var writers = map[int]*zlib.Writer{}

func deflate(raw []byte, level int) []byte {
	var b bytes.Buffer
	if writers[level] == nil {
		z, err := zlib.NewWriterLevel(&b, level)
		if err != nil {
			panic(err)
		}
		writers[level] = z
	}
	z := writers[level]
	z.Reset(&b)
	if _, err := z.Write(raw); err != nil {
		panic(err)
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// join puts a file together: the header, front, the stream cut into IDATs, and IEND.
func join(head []byte, front [][]byte, stream []byte, cut int) []byte {
	file := append([]byte(signature), head...)
	file = append(file, bytes.Join(front, nil)...)
	for len(stream) > cut {
		file = append(file, chunk("IDAT", stream[:cut])...)
		stream = stream[cut:]
	}
	file = append(file, chunk("IDAT", stream)...)
	return append(file, chunk("IEND", nil)...)
}

// picture is a file of random pixels.
func picture(h Header, rng *rand.Rand, cut int, front ...[]byte) []byte {
	return join(header(h), front, deflate(rawRows(h, rng), zlib.BestSpeed), cut)
}

func random(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

type kind struct {
	color ColorType
	depth int
}

var kinds = []kind{
	{Gray, 1}, {Gray, 2}, {Gray, 4}, {Gray, 8}, {Gray, 16}, {RGB, 8}, {RGB, 16},
	{Palette, 1}, {Palette, 2}, {Palette, 4}, {Palette, 8},
	{GrayAlpha, 8}, {GrayAlpha, 16}, {RGBA, 8}, {RGBA, 16},
}

// fronts are the chunks that may stand before the pixels of a kind.
func fronts(k kind, rng *rand.Rand) [][][]byte {
	switch k.color {
	case Palette:
		n := 1 << k.depth
		full, short := chunk("PLTE", random(rng, 3*n)), chunk("PLTE", random(rng, 3*max(n/2, 1)))
		return [][][]byte{
			{full}, {short}, {full, chunk("tRNS", random(rng, n))}, {full, chunk("tRNS", random(rng, n/2))},
			{short, chunk("tRNS", random(rng, n))}, {full, chunk("tRNS", nil)},
		}
	case Gray:
		return [][][]byte{{}, {chunk("tRNS", []byte{0, 0})}, {chunk("tRNS", []byte{0xff, 1})}, {chunk("tRNS", []byte{0xff, 0xff})}}
	case RGB:
		return [][][]byte{{}, {chunk("PLTE", random(rng, 30))}, {chunk("tRNS", make([]byte, 6))},
			{chunk("tRNS", []byte{0x12, 0xff, 0x34, 0x01, 0x56, 0x80})},

			{chunk("PLTE", random(rng, 768)), chunk("tRNS", bytes.Repeat([]byte{0xff}, 6))}}
	case RGBA:
		return [][][]byte{{}, {chunk("gAMA", random(rng, 4)), chunk("PLTE", random(rng, 3)), chunk("tEXt", random(rng, 20000))}}
	}
	return [][][]byte{{}, {chunk("tEXt", nil)}}
}

// reference is what image/png and image/draw make of a file.
func reference(file []byte) ([]byte, image.Point, error) {
	img, err := stdpng.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, image.Point{}, err
	}
	dst := image.NewRGBA(img.Bounds())
	draw.Draw(dst, dst.Rect, img, img.Bounds().Min, draw.Src)
	return dst.Pix, dst.Rect.Size(), nil
}

// A block is what a test gives as dst: garbage, and a few bytes behind that must stay.
type block struct {
	b     []byte
	calls int
}

const canary = 0xa5

func (k *block) get(h Header) ([]byte, error) {
	k.calls++
	k.b = bytes.Repeat([]byte{canary}, h.Bytes()+16)
	return k.b, nil
}

func (k *block) pixels(t *testing.T, h Header) []byte {
	t.Helper()
	for i, b := range k.b[h.Bytes():] {
		if b != canary {
			t.Fatalf("byte %d behind the picture was written", i)
		}
	}
	return k.b[:h.Bytes()]
}
