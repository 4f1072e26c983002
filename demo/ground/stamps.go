package ground

import (
	"encoding/hex"
	"fmt"
	"math"
	"strings"
)

// StampSize is the side of a stamp's frame in the realm's picture of stamps, in pixels.
const StampSize = 128

// A Color has red, green and blue from 0 to 255.
type Color [3]float32

func (c Color) scale(f float32) Color { return Color{c[0] * f, c[1] * f, c[2] * f} }
func (c Color) mix(d Color, t float32) Color {
	return Color{mix(c[0], d[0], t), mix(c[1], d[1], t), mix(c[2], d[2], t)}
}

// Stamps are the picture of stamps and the palette that all sectors of a realm share. Any number of goroutines may
// read them at the same time.
type Stamps struct {
	// Pix is the realm's picture of stamps: premultiplied RGBA, row by row, in frames of StampSize by StampSize. It
	// may lie off-heap and must be valid as long as the Stamps are used.
	Pix        []byte
	Wide, High int      // pixels
	Palette    [5]Color // dark to light
}

// NewStamps returns Stamps that use pix and keep a reference to it. If wide or high is no multiple of StampSize up to
// 1024, or if pix does not have 4·wide·high bytes, the error is a [*FileError] with the given file name.
func NewStamps(file string, pix []byte, wide, high int, palette [5]Color) (Stamps, error) {
	switch {
	case wide <= 0 || high <= 0 || wide > 1024 || high > 1024 || wide%StampSize != 0 || high%StampSize != 0:
		return Stamps{}, &FileError{file, 16, fmt.Sprintf("%d x %d pixels; allowed are multiples of %d up to 1024", wide, high, StampSize)}
	case len(pix) != wide*high*4:
		return Stamps{}, &FileError{file, 0, fmt.Sprintf("%d bytes of pixels; allowed are %d", len(pix), wide*high*4)}
	}
	return Stamps{pix, wide, high, palette}, nil
}

// ParsePalette reads five colours such as "#f2641a". Every error is a [*FileError] with the given file name.
func ParsePalette(file string, text [5]string) (p [5]Color, err error) {
	for i, s := range text {
		digits, ok := strings.CutPrefix(s, "#")
		rgb, err := hex.DecodeString(digits)
		if !ok || err != nil || len(rgb) != 3 {
			return p, &FileError{file, 0, fmt.Sprintf("palette[%d] is %.40q; allowed is #rrggbb with hexadecimal digits", i, s)}
		}
		p[i] = Color{float32(rgb[0]), float32(rgb[1]), float32(rgb[2])}
	}
	return p, nil
}

// Premultiply converts straight RGBA, as in PNG files, to premultiplied RGBA in place.
func Premultiply(pix []byte) {
	for i := 0; i+3 < len(pix); i += 4 {
		a := int(pix[i+3])
		for c := range 3 {
			pix[i+c] = uint8((int(pix[i+c])*a + 127) / 255)
		}
	}
}

// count returns how many stamps there are.
func (s *Stamps) count() int { return s.Wide / StampSize * (s.High / StampSize) }

// turns has the sine and the cosine of each 256th of a turn.
var turns = func() (all [256][2]float32) {
	for i := range all {
		sin, cos := math.Sincos(float64(i) * math.Pi / 128)
		all[i] = [2]float32{float32(sin), float32(cos)}
	}
	return all
}()

// lay blends a stamp into the rows [y0, y0+bandRows) of the canvas.
func (c *canvas) lay(st *Stamp, y0 int) {
	half := float32(StampSize) / 2 * float32(st.Scale) / 128
	sin, cos := turns[st.Turn][0], turns[st.Turn][1]
	spread := half * (abs(sin) + abs(cos)) // of the turned frame
	fx, fy := float32(st.X), float32(st.Y)
	left, right := max(int(fx-spread), 0), min(int(fx+spread)+1, SectorSize)
	top, low := max(int(fy-spread), y0), min(int(fy+spread)+1, y0+bandRows)
	if left >= right || top >= low {
		return
	}
	per := 128 / float32(st.Scale)
	across := c.stamps.Wide / StampSize
	frame := (int(st.ID)/across*StampSize*c.stamps.Wide + int(st.ID)%across*StampSize) * 4
	tint := c.stamps.Palette[st.Color]
	amount := float32(st.Amount) / 15
	for y := top; y < low; y++ {
		dx, dy := float32(left)+0.5-fx, float32(y)+0.5-fy
		u := (dx*cos+dy*sin)*per + StampSize/2 - 0.5
		v := (dy*cos-dx*sin)*per + StampSize/2 - 0.5
		du, dv := cos*per, -sin*per
		rgb := c.rgb[((y-y0)*SectorSize+left)*3:]
		cover := c.cover[(y-y0)*SectorSize+left:]
		for x := range right - left {
			if u >= 0 && v >= 0 && u < StampSize-1 && v < StampSize-1 {
				if s := c.sample(frame, u, v); s[3] > 0.5 {
					k := float32(1)
					switch st.Layer {
					case OnFloor:
						k = 1 - cover[x]
					case OnWalls:
						k = cover[x]
					}
					blend(rgb[x*3:x*3+3:x*3+3], s, tint, amount, k)
				}
			}
			u += du
			v += dv
		}
	}
}

// sample reads a stamp between four pixels.
func (c *canvas) sample(frame int, u, v float32) (out [4]float32) {
	x, y := int(u), int(v)
	fx, fy := u-float32(x), v-float32(y)
	p := c.stamps.Pix[frame+(y*c.stamps.Wide+x)*4:]
	q := p[c.stamps.Wide*4:]
	a, b, d := (1-fx)*(1-fy), fx*(1-fy), (1-fx)*fy
	e := fx * fy
	p, q = p[:8:8], q[:8:8]
	if p[3]|p[7]|q[3]|q[7] == 0 {
		return out
	}
	for i := range 4 {
		out[i] = a*float32(p[i]) + b*float32(p[i+4]) + d*float32(q[i]) + e*float32(q[i+4])
	}
	return out
}

// blend lays the share k of a premultiplied sample over a pixel. A tint keeps the sample's brightness.
func blend(rgb []float32, s [4]float32, tint Color, amount, k float32) {
	if amount > 0 {
		light := max(s[0], s[1], s[2]) * (1.0 / 255)
		for i := range 3 {
			s[i] = mix(s[i], light*tint[i], amount)
		}
	}
	rest := 1 - k*s[3]*(1.0/255)
	rgb[0] = rgb[0]*rest + s[0]*k
	rgb[1] = rgb[1]*rest + s[1]*k
	rgb[2] = rgb[2]*rest + s[2]*k
}
