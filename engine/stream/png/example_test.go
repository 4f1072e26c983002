package png_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	stdpng "image/png"
	"unsafe"

	"github.com/strata-go/strata/engine/stream/png"
	"github.com/strata-go/strata/memory/arena"
)

// A picture goes from a file straight to memory that the collector does not know.
func ExampleDecoder_Decode() {
	src := image.NewNRGBA(image.Rect(0, 0, 2, 1))
	src.SetNRGBA(0, 0, color.NRGBA{R: 200, G: 100, B: 50, A: 255})
	src.SetNRGBA(1, 0, color.NRGBA{R: 200, G: 100, B: 50, A: 128})
	var file bytes.Buffer
	if err := stdpng.Encode(&file, src); err != nil {
		fmt.Println(err)
		return
	}
	heap, err := arena.NewLinear(nil, arena.LinearConfig{Bytes: 64 << 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer heap.Close()

	var pixels []byte
	var d png.Decoder // one for each worker goroutine
	h, err := d.Decode(&file, func(h png.Header) ([]byte, error) {
		p, err := heap.Alloc(uintptr(h.Bytes()), 4)
		if err != nil {
			return nil, err
		}
		pixels = unsafe.Slice((*byte)(p), h.Bytes())
		return pixels, nil
	}, 1024*1024)
	fmt.Println(h.Width, h.Height, pixels, err)
	// Output: 2 1 [200 100 50 255 100 50 25 128] <nil>
}

// A header is judged before anything is allocated for the picture.
func ExampleReadHeader() {
	var file bytes.Buffer
	if err := stdpng.Encode(&file, image.NewGray(image.Rect(0, 0, 300, 200))); err != nil {
		fmt.Println(err)
		return
	}
	h, err := png.ReadHeader(bytes.NewReader(file.Bytes()), 1<<20)
	fmt.Println(h.Width, h.Height, h.Bytes(), err)
	_, err = png.ReadHeader(bytes.NewReader(file.Bytes()), 256*128)
	fmt.Println(errors.Is(err, png.ErrTooLarge), err)
	// Output:
	// 300 200 240000 <nil>
	// true png: byte 33, chunk "IHDR": 300 x 200 pixels, allowed are 32768 in all: picture too large
}
