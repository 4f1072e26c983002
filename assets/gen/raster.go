package main

import (
	"bytes"
	"image"
	"image/png"
	"math"
)

// A shader inks one point. Points are in pixels from the centre of the picture, x right, y down.
type shader func(p vec) ink

// An ink is a grey with coverage, premultiplied: 0 <= lum <= a <= 1 once clamped.
type ink struct{ lum, a float64 }

// paint covers the ink with an opaque grey, as far as cover says.
func (k *ink) paint(lum, cover float64) {
	cover = clamp(cover)
	k.lum = lum*cover + k.lum*(1-cover)
	k.a = cover + k.a*(1-cover)
}

// light brightens what is already there and leaves the silhouette alone.
func (k *ink) light(v float64) { k.lum = min(k.lum+v*k.a, k.a) }

// glow adds white light that also shows where there is nothing else.
func (k *ink) glow(v float64) {
	v = clamp(v)
	k.lum = v + k.lum*(1-v)
	k.a = v + k.a*(1-v)
}

func quantize(v float64) uint8 { return uint8(math.Floor(clamp(v)*255 + 0.5)) }

// withAlpha keeps the encoder from dropping the alpha channel of an opaque picture, so that every file
// decodes to the same type.
type withAlpha struct{ *image.NRGBA }

func (withAlpha) Opaque() bool { return false }

func encode(img *image.NRGBA) ([]byte, error) {
	var buf bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestCompression}
	err := enc.Encode(&buf, withAlpha{img})
	return buf.Bytes(), err
}
