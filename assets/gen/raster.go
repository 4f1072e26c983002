package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"sync"
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

// renderAll draws every picture, each on its own goroutine, in the order of the table.
func renderAll() []*image.NRGBA {
	images := make([]*image.NRGBA, len(pictures))
	var wg sync.WaitGroup
	for i, p := range pictures {
		wg.Go(func() { images[i] = render(p) })
	}
	wg.Wait()
	return images
}

func render(p picture) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, p.w, p.h))
	for y := range p.h {
		for x := range p.w {
			img.SetNRGBA(x, y, pixel(p, x, y))
		}
	}
	return img
}

// pixel averages the samples of one pixel in premultiplied form and returns the straight colour.
func pixel(p picture, x, y int) color.NRGBA {
	var sum ink
	for sy := range p.samples {
		for sx := range p.samples {
			k := p.draw(vec{
				float64(x) + (float64(sx)+0.5)/float64(p.samples) - float64(p.w)/2,
				float64(y) + (float64(sy)+0.5)/float64(p.samples) - float64(p.h)/2,
			})
			a := clamp(k.a)
			sum.lum += min(max(k.lum, 0), a)
			sum.a += a
		}
	}
	a := quantize(sum.a / float64(p.samples*p.samples))
	if a == 0 {
		return color.NRGBA{}
	}
	l := quantize(sum.lum / sum.a)
	return color.NRGBA{l, l, l, a}
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
