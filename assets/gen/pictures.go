package main

import (
	"image"
	"image/color"
)

// A picture names a file, its size in pixels and the function that inks it.
type picture struct {
	name    string
	w, h    int
	samples int // per axis of a pixel
	needed  int // when a level shows it: its priority there
	draw    shader
}

// When a picture is needed.
const (
	never = iota - 1 // by a level: it is there before any is
	atOnce
	soon
	later
	atLast
)

// sprite is the samples of all of them. Distances already give one pixel of anti-aliasing; corners and thin tips are
// caught by four samples.
const sprite = 2

// pictures are all of them: those of enemies, NAME and NAME_core, are listed with how they are drawn.
var pictures = append(enemyPictures, []picture{
	{"player", 96, 96, sprite, atOnce, player},
	{"player_core", 96, 96, sprite, atOnce, playerCore},

	{"bullet", 64, 24, sprite, atOnce, bullet},
	{"orb", 40, 40, sprite, soon, orb},
	{"pickup_hull", 56, 56, sprite, later, pickupHull},
	{"pickup_power", 56, 56, sprite, later, pickupPower},
	{"pickup_score", 56, 56, sprite, later, pickupScore},

	{"soft", 64, 64, sprite, atOnce, soft},
	{"spark", 64, 16, sprite, soon, spark},
	{"smoke", 96, 96, sprite, later, smoke},
	{"ring", 256, 256, sprite, later, ring},
	{"flare", 128, 128, sprite, later, flare},
	{"debris", 32, 32, sprite, later, debris},
	{"portal", 256, 256, sprite, atLast, portal},

	{"reticle", 48, 48, sprite, atOnce, reticle},
	{"vignette", 320, 180, sprite, later, vignette},
	{"placeholder", 64, 64, sprite, never, placeholder},
}...)

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
