package render

// A Color is premultiplied light. R, G and B, usually 0 to 1, are added to the picture. A is the share of the former
// picture that is covered. So A == 0 is additive light and A == 1 is opaque. One draw call may contain both.
type Color struct{ R, G, B, A float32 }

// White and Black are opaque.
var (
	White = Color{1, 1, 1, 1}
	Black = Color{0, 0, 0, 1}
)

// RGB returns an opaque colour from 0xRRGGBB.
func RGB(hex uint32) Color {
	return Color{
		R: float32(hex>>16&0xff) / 255,
		G: float32(hex>>8&0xff) / 255,
		B: float32(hex&0xff) / 255,
		A: 1,
	}
}

// RGBA implements [image/color.Color]. Components are limited to 0 to 1.
func (c Color) RGBA() (r, g, b, a uint32) {
	to := func(v float32) uint32 { return uint32(min(max(v, 0), 1)*0xffff + 0.5) }
	return to(c.R), to(c.G), to(c.B), to(c.A)
}

// Fade scales light and coverage by f: 0 is invisible, 1 is c.
func (c Color) Fade(f float32) Color { return Color{c.R * f, c.G * f, c.B * f, c.A * f} }

// Light returns c as additive light, scaled by f. F may exceed 1.
func (c Color) Light(f float32) Color { return Color{c.R * f, c.G * f, c.B * f, 0} }

// Shade scales the light by f and keeps the coverage: 0 is black, 1 is c.
func (c Color) Shade(f float32) Color { return Color{c.R * f, c.G * f, c.B * f, c.A} }

// Mix interpolates linearly from c at t == 0 to d at t == 1.
func (c Color) Mix(d Color, t float32) Color {
	return Color{c.R + (d.R-c.R)*t, c.G + (d.G-c.G)*t, c.B + (d.B-c.B)*t, c.A + (d.A-c.A)*t}
}
