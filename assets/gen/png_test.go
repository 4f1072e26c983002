package main

import (
	"bytes"
	"image"
	"image/png"
	"testing"
)

func TestEncode_ReadsBackThePixelsWithTheirType(t *testing.T) {
	ramp, opaque, rough := image.NewNRGBA(image.Rect(0, 0, 40, 30)), image.NewNRGBA(image.Rect(0, 0, 7, 1)), image.NewNRGBA(image.Rect(0, 0, 40, 30))
	for i := range ramp.Pix {
		ramp.Pix[i], rough.Pix[i] = uint8(i/160*7+i%160*3), uint8(hash(i, 0, 5))
	}
	for i := range opaque.Pix {
		opaque.Pix[i] = 255
	}
	for _, img := range []*image.NRGBA{ramp, opaque, rough} {
		data, err := encode(img)
		if err != nil {
			t.Fatal(err)
		}
		got, err := png.Decode(bytes.NewReader(data))
		if is, ok := got.(*image.NRGBA); err != nil || !ok || !is.Rect.Eq(img.Rect) || !bytes.Equal(is.Pix, img.Pix) {
			t.Errorf("%v: %T, %v", img.Rect, got, err)
		}
	}
}
