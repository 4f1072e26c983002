package render

// A Color is premultiplied light: R, G and B from 0 to 1 are what is added to the
// picture, A is how much of what lay there is covered. A == 0 is therefore additive
// light and A == 1 is opaque, and both mix in one draw call.
type Color struct{ R, G, B, A float32 }

var (
	White = Color{1, 1, 1, 1}
	Black = Color{0, 0, 0, 1}
)

// RGB makes an opaque colour from 0xRRGGBB.
func RGB(hex uint32) Color {
	return Color{
		R: float32(hex>>16&0xff) / 255,
		G: float32(hex>>8&0xff) / 255,
		B: float32(hex&0xff) / 255,
		A: 1,
	}
}

// RGBA makes a Color an image/color.Color. Light beyond 1 is cut off.
func (c Color) RGBA() (r, g, b, a uint32) {
	to := func(v float32) uint32 { return uint32(min(max(v, 0), 1)*0xffff + 0.5) }
	return to(c.R), to(c.G), to(c.B), to(c.A)
}

// Fade scales light and coverage together: 0 is invisible, 1 is c.
func (c Color) Fade(f float32) Color { return Color{c.R * f, c.G * f, c.B * f, c.A * f} }

// Light makes c additive and scales it by f, which may exceed 1.
func (c Color) Light(f float32) Color { return Color{c.R * f, c.G * f, c.B * f, 0} }

// Shade scales the light and keeps the coverage: 0 is black, 1 is c.
func (c Color) Shade(f float32) Color { return Color{c.R * f, c.G * f, c.B * f, c.A} }

// Mix goes from c at t == 0 to d at t == 1.
func (c Color) Mix(d Color, t float32) Color {
	return Color{c.R + (d.R-c.R)*t, c.G + (d.G-c.G)*t, c.B + (d.B-c.B)*t, c.A + (d.A-c.A)*t}
}
