package main

import (
	"image"
	"image/color"
	"math"
	"sync"
)

// Stamps are coloured pictures of what lies about in a realm, twelve each.
const (
	stampSide    = 128
	stampsAcross = 4
	stampsDown   = 3
)

// tileLight is where the light of what lies on the ground comes from.
var tileLight = vec{-0.6, -0.8}

// A tone is a colour, 0 to 1 each.
type tone [3]float64

func (a tone) mix(b tone, t float64) tone {
	return tone{mix(a[0], b[0], t), mix(a[1], b[1], t), mix(a[2], b[2], t)}
}

func (a tone) scale(t float64) tone { return tone{a[0] * t, a[1] * t, a[2] * t} }

// A dye is a colour with coverage, premultiplied.
type dye struct {
	c tone
	a float64
}

// paint covers the dye with a colour, as far as cover says.
func (k *dye) paint(c tone, cover float64) {
	cover = clamp(cover)
	k.c = k.c.mix(c, cover)
	k.a = cover + k.a*(1-cover)
}

// glow adds light that hides nothing.
func (k *dye) glow(c tone, v float64) {
	v = clamp(v)
	for i := range k.c {
		k.c[i] += c[i] * v * (1 - k.c[i])
	}
	k.a = max(k.a, k.c[0], k.c[1], k.c[2])
}

// A stamp draws one point, in pixels from its middle, with the realm's palette.
type stamp func(k *dye, p vec, pal *[5]tone)

// pal returns the palette as tones.
func (r *realm) pal() (p [5]tone) {
	for i, s := range r.Palette {
		for c := range 3 {
			p[i][c] = float64(hexDigit(s[1+2*c])*16+hexDigit(s[2+2*c])) / 255
		}
	}
	return p
}

func hexDigit(b byte) int {
	if b >= 'a' {
		return int(b-'a') + 10
	}
	return int(b - '0')
}

// drawStamps draws a realm's stamps, each on a goroutine of its own.
func drawStamps(r *realm) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, stampsAcross*stampSide, stampsDown*stampSide))
	pal := r.pal()
	var wg sync.WaitGroup
	for i, draw := range r.stamps {
		wg.Go(func() {
			for y := range stampSide {
				for x := range stampSide {
					img.SetNRGBA(i%stampsAcross*stampSide+x, i/stampsAcross*stampSide+y, stampPixel(draw, x, y, &pal))
				}
			}
		})
	}
	wg.Wait()
	return img
}

// stampPixel averages four samples; a stamp fades out before its frame ends.
func stampPixel(draw stamp, x, y int, pal *[5]tone) color.NRGBA {
	var sum dye
	for s := range 4 {
		p := vec{float64(x) + 0.25 + 0.5*float64(s%2) - stampSide/2, float64(y) + 0.25 + 0.5*float64(s/2) - stampSide/2}
		var k dye
		draw(&k, p, pal)
		fade := 0.25 * falloff(max(math.Abs(p.x), math.Abs(p.y))-52, 9)
		for c := range sum.c {
			sum.c[c] += clamp(k.c[c]) * fade
		}
		sum.a += clamp(k.a) * fade
	}
	// Six bits of coverage are enough, and pack better.
	a := math.Round(sum.a*63) / 63
	if a == 0 {
		return color.NRGBA{}
	}
	q := func(v float64) uint8 { return quantize(math.Round(v/sum.a*84) / 84) }
	return color.NRGBA{q(sum.c[0]), q(sum.c[1]), q(sum.c[2]), quantize(a)}
}

// lump is an uneven disc around c and how its top faces the light, -1 to 1.
func lump(p, c vec, r float64, seed uint32) (d, lit float64) {
	q := p.sub(c)
	a := q.angle()
	rnd := func(i uint32) float64 { return 6 * chance(int(i), 3, seed) }
	uneven := 0.10*math.Sin(2*a+rnd(1)) + 0.07*math.Sin(3*a+rnd(2)) + 0.03*math.Sin(7*a+rnd(3))
	d = q.length() - r*(1+uneven)
	return d, q.scale(1 / max(r, q.length()+0.01)).dot(tileLight)
}

// solid paints a shaded lump: shadow, body, a lit edge.
func (k *dye) solid(p, c vec, r float64, dark, light tone, seed uint32) {
	if p.sub(c).length() > 1.4*r+16 {
		return
	}
	d, _ := lump(p, c.add(vec{3, 4}), r+2, seed)
	k.paint(tone{}, 0.5*falloff(d+3, 7))
	d, lit := lump(p, c, r, seed)
	body := dark.mix(light, clamp(0.15+0.45*lit)+0.5*clamp(lit)*falloff(-d-1, 4))
	k.paint(body, fill(d))
}

// twigs is the distance to a tree of branches that starts at a and grows along angle.
func twigs(p, a vec, angle, length, width float64, depth int, seed uint32) float64 {
	turn := 0.9 * (chance(depth, 1, seed) - 0.5)
	b := a.add(polar(length, angle+turn))
	d := taper(p, a, b, width, width*0.72)
	if depth == 0 {
		return d
	}
	spread := 0.35 + 0.4*chance(depth, 2, seed)
	d = min(d, twigs(p, b, angle+turn+spread, length*0.76, width*0.7, depth-1, seed*3+1))
	return min(d, twigs(p, b, angle+turn-spread, length*0.76, width*0.7, depth-1, seed*3+2))
}

// about calls f for n points within r of the middle, none twice, with a number of their own.
func about(n int, r float64, seed uint32, f func(at vec, rnd float64, i int)) {
	for i := range n {
		f(polar(r*math.Sqrt((float64(i)+0.5)/float64(n)), 2.39996*float64(i)+1.3*chance(i, 5, seed)), chance(i, 6, seed), i)
	}
}

// grain is noise over a stamp's frame.
func grain(p vec, cells int, seed uint32) float64 {
	return cloud(p.scale(1.0/stampSide).add(vec{0.5, 0.5}), cells, 3, seed)
}
