package render

import (
	"fmt"
	"image"

	"github.com/hajimehoshi/ebiten/v2"
)

// A Bloom configures the glow of bright pixels. The zero value draws no glow.
type Bloom struct {
	Strength  float32 // factor of the blurred light that is added; 0 or less is off, above 1.5 the picture washes out
	Threshold float32 // 0 to 1: light up to Threshold does not glow, and light of 1 glows fully
}

// DefaultBloom suits light on a dark background.
var DefaultBloom = Bloom{Strength: 1.1, Threshold: 0.3}

// bloomDown is the factor by which light is shrunk before it is blurred: at 4 a blur of
// 13 taps spreads over 50 physical pixels and costs a sixteenth.
const bloomDown = 4

// The parameters travel in the vertices' custom fields: uniforms would mean a map and
// boxed values each frame.
const brightKage = `//kage:unit pixels
package main

// custom: x threshold, y distance of the taps in source pixels
func Fragment(dst vec4, src vec2, color vec4, custom vec4) vec4 {
	d := custom.y
	c := imageSrc0At(src+vec2(-d, -d)).rgb
	c += imageSrc0At(src+vec2(d, -d)).rgb
	c += imageSrc0At(src+vec2(-d, d)).rgb
	c += imageSrc0At(src+vec2(d, d)).rgb
	c *= 0.25
	peak := max(c.r, max(c.g, c.b))
	// A soft knee: no hard edge where light crosses the threshold.
	gain := clamp((peak-custom.x)/max(1-custom.x, 0.001), 0, 1)
	return vec4(c*gain, 1)
}
`

const blurKage = `//kage:unit pixels
package main

// custom: xy one step of the blur
func Fragment(dst vec4, src vec2, color vec4, custom vec4) vec4 {
	d := custom.xy
	c := imageSrc0At(src).rgb * 0.1710
	c += (imageSrc0At(src-d).rgb + imageSrc0At(src+d).rgb) * 0.1567
	c += (imageSrc0At(src-2*d).rgb + imageSrc0At(src+2*d).rgb) * 0.1206
	c += (imageSrc0At(src-3*d).rgb + imageSrc0At(src+3*d).rgb) * 0.0780
	c += (imageSrc0At(src-4*d).rgb + imageSrc0At(src+4*d).rgb) * 0.0423
	c += (imageSrc0At(src-5*d).rgb + imageSrc0At(src+5*d).rgb) * 0.0169
	return vec4(c, 1)
}
`

// bloomer owns the shaders and the two small images between which the light is blurred.
type bloomer struct {
	bright, blur *ebiten.Shader
	ping, pong   *ebiten.Image

	verts   [4]Vertex
	indices [IndicesPerQuad]uint32
	shader  ebiten.DrawTrianglesShaderOptions
	add     ebiten.DrawTrianglesOptions
}

func newBloomer() (*bloomer, error) {
	bright, err := ebiten.NewShader([]byte(brightKage))
	if err != nil {
		return nil, fmt.Errorf("render: bloom: %w", err)
	}
	blur, err := ebiten.NewShader([]byte(blurKage))
	if err != nil {
		return nil, fmt.Errorf("render: bloom: %w", err)
	}
	b := &bloomer{bright: bright, blur: blur}
	index(&b.indices, 0)
	b.add = ebiten.DrawTrianglesOptions{
		ColorScaleMode: ebiten.ColorScaleModePremultipliedAlpha,
		Filter:         ebiten.FilterLinear,
		DisableMipmaps: true,
		Address:        ebiten.AddressClampToZero,
	}
	return b, nil
}

// resize makes the small images for a viewport, and drops the former ones.
func (b *bloomer) resize(w, h int) {
	w, h = max((w+bloomDown-1)/bloomDown, 1), max((h+bloomDown-1)/bloomDown, 1)
	if b.ping != nil {
		if b.ping.Bounds().Size() == image.Pt(w, h) {
			return
		}
		b.ping.Deallocate()
		b.pong.Deallocate()
	}
	b.ping = ebiten.NewImageWithOptions(image.Rect(0, 0, w, h), &ebiten.NewImageOptions{Unmanaged: true})
	b.pong = ebiten.NewImageWithOptions(image.Rect(0, 0, w, h), &ebiten.NewImageOptions{Unmanaged: true})
}

// apply adds the glow of what is on a target, inside its viewport and its bleed.
func (b *bloomer) apply(on target, o Bloom) {
	r := on.vp.Drawn()
	b.resize(r.Dx(), r.Dy())
	w, h := b.ping.Bounds().Dx(), b.ping.Bounds().Dy()
	small := Region{0, 0, float32(w), float32(h)}
	full := Region{float32(r.Min.X), float32(r.Min.Y), float32(r.Min.X + w*bloomDown), float32(r.Min.Y + h*bloomDown)}

	b.pass(b.ping, small, on.whole, full, b.bright, o.Threshold, 1)
	// Two rounds, the second wider: a tight glow with a wide skirt for the price of one
	// long kernel.
	for _, d := range [...]float32{1, 2} {
		b.pass(b.pong, small, b.ping, small, b.blur, d, 0)
		b.pass(b.ping, small, b.pong, small, b.blur, 0, d)
	}
	s := o.Strength
	b.corners(full, small, Color{s, s, s, 0})
	on.clipped.DrawTriangles32(b.verts[:], b.indices[:], b.ping, &b.add)
}

func (b *bloomer) pass(dst *ebiten.Image, to Region, src *ebiten.Image, from Region, sh *ebiten.Shader, p0, p1 float32) {
	b.corners(to, from, White)
	for i := range b.verts {
		b.verts[i].Custom0, b.verts[i].Custom1 = p0, p1
	}
	b.shader.Blend = ebiten.BlendCopy
	b.shader.Images[0] = src
	dst.DrawTrianglesShader32(b.verts[:], b.indices[:], sh, &b.shader)
}

func (b *bloomer) corners(to, from Region, c Color) {
	set(&b.verts[0], to.X0, to.Y0, from.X0, from.Y0, c)
	set(&b.verts[1], to.X1, to.Y0, from.X1, from.Y0, c)
	set(&b.verts[2], to.X0, to.Y1, from.X0, from.Y1, c)
	set(&b.verts[3], to.X1, to.Y1, from.X1, from.Y1, c)
}
