package render

import (
	"image"
	"math"

	"github.com/go-gl/mathgl/mgl32"
)

// The default size of the logical screen. The sizes 1280×720, 1920×1080 and 3840×2160 are whole multiples of this
// size.
const (
	LogicalW = 640
	LogicalH = 360
)

// A View maps coordinates to physical pixels: pixel = p*Scale + (X, Y).
type View struct{ Scale, X, Y float32 }

// At returns the view whose origin is the point (x, y) of v. The returned view has the scale of v.
func (v View) At(x, y float32) View { return View{v.Scale, v.X + x*v.Scale, v.Y + y*v.Scale} }

// Zoom returns the view with the same origin and s times the scale.
func (v View) Zoom(s float32) View { return View{v.Scale * s, v.X, v.Y} }

// Apply converts p to physical pixels.
func (v View) Apply(p mgl32.Vec2) mgl32.Vec2 {
	return mgl32.Vec2{p[0]*v.Scale + v.X, p[1]*v.Scale + v.Y}
}

// Invert converts physical pixels to coordinates. If Scale is 0, Invert returns the zero vector.
func (v View) Invert(p mgl32.Vec2) mgl32.Vec2 {
	if v.Scale == 0 {
		return mgl32.Vec2{}
	}
	return mgl32.Vec2{(p[0] - v.X) / v.Scale, (p[1] - v.Y) / v.Scale}
}

// A Viewport is the position of the logical screen in a window: its offset and size in physical pixels, and the
// physical pixels of one logical pixel. With [Viewport.Bleed] the picture continues around the logical screen. The rest
// of the window stays black.
type Viewport struct {
	X, Y, W, H int
	Scale      float32

	// Outer is the logical screen with its bleed, in physical pixels. Fit leaves Outer empty, and Bleed sets it.
	Outer image.Rectangle
}

// integerLoss is the share of the window's width that a whole-number scale may leave black. 1/6 gives 1366×768
// a scale of 2, and 2200×1240 a scale of 3. Scale 1 is not enforced, so that the picture fills a phone's screen.
const integerLoss = 1.0 / 6

// Fit centres a logical screen in a window of w × h physical pixels. It uses the largest scale that fits. If this scale
// is above 2, Fit rounds it down to a whole number, unless that loses more than a sixth of the scale. Sizes below 1
// count as 1.
func Fit(w, h, logicalW, logicalH int) Viewport {
	w, h = max(w, 1), max(h, 1)
	lw, lh := float64(max(logicalW, 1)), float64(max(logicalH, 1))
	s := min(float64(w)/lw, float64(h)/lh)
	if whole := math.Floor(s); (whole > 1 || whole == s) && whole/s >= 1-integerLoss {
		s = whole
	}
	pw, ph := max(int(math.Round(lw*s)), 1), max(int(math.Round(lh*s)), 1)
	return Viewport{X: (w - pw) / 2, Y: (h - ph) / 2, W: pw, H: ph, Scale: float32(s)}
}

// Bleed returns v with the field Outer set. The bleed is the area around the logical screen in which the game may draw.
// It reaches to the edges of a window of w × h physical pixels, but at most `most` logical pixels beyond each side of
// v, rounded up to physical pixels. A negative `most` counts as 0. Text and buttons belong in the area of
// [Viewport.Safe].
func (v Viewport) Bleed(w, h, most int) Viewport {
	b := int(math.Ceil(max(min(float64(most)*float64(v.Scale), float64(max(w, h))), 0)))
	v.Outer = image.Rect(v.X-b, v.Y-b, v.X+v.W+b, v.Y+v.H+b).Intersect(image.Rect(0, 0, w, h))
	return v
}

// Drawn returns the drawable part of the window in physical pixels: Outer, or the logical screen if Outer is empty.
func (v Viewport) Drawn() image.Rectangle {
	if v.Outer.Empty() {
		return image.Rect(v.X, v.Y, v.X+v.W, v.Y+v.H)
	}
	return v.Outer
}

// Bounds returns the top left and the bottom right corner of [Viewport.Drawn], in logical pixels. If Outer is empty, lo
// is (0, 0), and hi is the size of the logical screen, up to rounding to physical pixels. If Bleed has set Outer, lo
// may be negative. A shape that must cover the whole picture reaches from lo to hi.
func (v Viewport) Bounds() (lo, hi mgl32.Vec2) {
	r := v.Drawn()
	lo = v.View().Invert(mgl32.Vec2{float32(r.Min.X), float32(r.Min.Y)})
	return lo, v.View().Invert(mgl32.Vec2{float32(r.Max.X), float32(r.Max.Y)})
}

// Safe returns the corners of the area for text and buttons, in logical pixels. The left and right sides are those of
// the logical screen, because hands or the camera of a wide phone may cover the area beside it. The upper and lower
// edges are those of [Viewport.Drawn].
func (v Viewport) Safe() (lo, hi mgl32.Vec2) {
	lo, hi = v.Bounds()
	lo[0], hi[0] = 0, float32(v.W)/v.Scale
	return lo, hi
}

// View returns the view of the logical screen, for HUD, menus and overlay.
func (v Viewport) View() View { return View{v.Scale, float32(v.X), float32(v.Y)} }

// A Camera maps the world to the logical screen. It is plain data: the game moves Center and decays Shake.
type Camera struct {
	Center mgl32.Vec2 // the world point at the centre of the logical screen
	Shake  mgl32.Vec2 // displacement of the picture in logical pixels
	Zoom   float32    // logical pixels per world unit; 0 counts as 1
	Size   mgl32.Vec2 // the logical screen; zero counts as 640 × 360
}

func (c *Camera) zoom() float32 {
	if c.Zoom == 0 {
		return 1
	}
	return c.Zoom
}

func (c *Camera) size() mgl32.Vec2 {
	if c.Size == (mgl32.Vec2{}) {
		return mgl32.Vec2{LogicalW, LogicalH}
	}
	return c.Size
}

// offset is the logical position of the world's origin.
func (c *Camera) offset() mgl32.Vec2 {
	return c.size().Mul(0.5).Add(c.Shake).Sub(c.Center.Mul(c.zoom()))
}

// ToScreen converts a world point to logical pixels.
func (c *Camera) ToScreen(p mgl32.Vec2) mgl32.Vec2 { return p.Mul(c.zoom()).Add(c.offset()) }

// ToWorld converts logical pixels to a world point.
func (c *Camera) ToWorld(p mgl32.Vec2) mgl32.Vec2 { return p.Sub(c.offset()).Mul(1 / c.zoom()) }

// View returns the view from the world to physical pixels.
func (c *Camera) View(vp Viewport) View {
	o := c.offset()
	return vp.View().At(o[0], o[1]).Zoom(c.zoom())
}

// Bounds returns the corners of the visible part of the world, in world units, including the bleed of vp. Use it for
// culling.
func (c *Camera) Bounds(vp Viewport) (lo, hi mgl32.Vec2) {
	lo, hi = vp.Bounds()
	return c.ToWorld(lo), c.ToWorld(hi)
}
