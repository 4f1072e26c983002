package render

import (
	"image"
	"math"

	"github.com/go-gl/mathgl/mgl32"
)

// The logical screen: everything is designed for it, and it fits 1280×720, 1920×1080 and
// 3840×2160 a whole number of times.
const (
	LogicalW = 640
	LogicalH = 360
)

// A View takes coordinates to physical pixels: pixel = p*Scale + (X, Y).
type View struct{ Scale, X, Y float32 }

// At returns the view with its origin moved to (x, y) in its own coordinates.
func (v View) At(x, y float32) View { return View{v.Scale, v.X + x*v.Scale, v.Y + y*v.Scale} }

// Zoom returns the view with its coordinates s times as large.
func (v View) Zoom(s float32) View { return View{v.Scale * s, v.X, v.Y} }

// Apply takes p to physical pixels.
func (v View) Apply(p mgl32.Vec2) mgl32.Vec2 {
	return mgl32.Vec2{p[0]*v.Scale + v.X, p[1]*v.Scale + v.Y}
}

// Invert takes physical pixels to coordinates. A zero Scale gives the zero vector.
func (v View) Invert(p mgl32.Vec2) mgl32.Vec2 {
	if v.Scale == 0 {
		return mgl32.Vec2{}
	}
	return mgl32.Vec2{(p[0] - v.X) / v.Scale, (p[1] - v.Y) / v.Scale}
}

// A Viewport is where the logical screen lies in a window: its offset and size in
// physical pixels, and the scale between them. What is outside it stays black, but for its bleed.
type Viewport struct {
	X, Y, W, H int
	Scale      float32

	// Outer is the logical screen with its bleed, in physical pixels: all that is drawn on. Empty stands
	// for a screen without.
	Outer image.Rectangle
}

// integerLoss is the share of the window's width that a whole-number scale may leave
// black. 1/6 takes 1366×768 to 2 and 2200×1240 to 3. Where only a scale of 1 would fit there is little to be sharp
// with and none to waste: a phone's screen is filled.
const integerLoss = 1.0 / 6

// Fit places a logical screen in a window of w × h physical pixels: at a whole-number
// scale above 1 where that wastes little, at the largest scale that fits otherwise. Sizes below
// 1 count as 1.
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

// Bleed returns v with as much around it as a window of w × h physical pixels has, up to most logical
// pixels beyond each edge: in a window of another shape than the logical screen's, a picture that has more to
// show goes on there. What must be seen belongs on the logical screen.
func (v Viewport) Bleed(w, h, most int) Viewport {
	b := int(math.Ceil(float64(most) * float64(v.Scale)))
	v.Outer = image.Rect(v.X-b, v.Y-b, v.X+v.W+b, v.Y+v.H+b).Intersect(image.Rect(0, 0, w, h))
	return v
}

// Drawn returns what is drawn on in physical pixels: the logical screen and its bleed.
func (v Viewport) Drawn() image.Rectangle {
	if v.Outer.Empty() {
		return image.Rect(v.X, v.Y, v.X+v.W, v.Y+v.H)
	}
	return v.Outer
}

// Bounds returns the same in logical pixels: from (0, 0) to the size of the logical screen, and with a bleed
// beyond it. A HUD that darkens everything fills it.
func (v Viewport) Bounds() (lo, hi mgl32.Vec2) {
	r := v.Drawn()
	lo = v.View().Invert(mgl32.Vec2{float32(r.Min.X), float32(r.Min.Y)})
	return lo, v.View().Invert(mgl32.Vec2{float32(r.Max.X), float32(r.Max.Y)})
}

// View returns the view of the logical screen itself: for HUD, menus and overlay.
func (v Viewport) View() View { return View{v.Scale, float32(v.X), float32(v.Y)} }

// A Camera looks at the world. Zoom 0 counts as 1. It is pure data: the game moves
// Center, and decays Shake by its own fixed step.
type Camera struct {
	Center mgl32.Vec2 // the world point in the middle of the logical screen
	Shake  mgl32.Vec2 // logical pixels by which the picture is displaced
	Zoom   float32    // logical pixels per world unit
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

// ToScreen takes a world point to logical pixels.
func (c *Camera) ToScreen(p mgl32.Vec2) mgl32.Vec2 { return p.Mul(c.zoom()).Add(c.offset()) }

// ToWorld takes logical pixels to a world point.
func (c *Camera) ToWorld(p mgl32.Vec2) mgl32.Vec2 { return p.Sub(c.offset()).Mul(1 / c.zoom()) }

// View returns the view from the world to physical pixels.
func (c *Camera) View(vp Viewport) View {
	o := c.offset()
	return vp.View().At(o[0], o[1]).Zoom(c.zoom())
}

// Bounds returns the world rectangle that is in sight, for culling.
func (c *Camera) Bounds(vp Viewport) (lo, hi mgl32.Vec2) {
	lo, hi = vp.Bounds()
	return c.ToWorld(lo), c.ToWorld(hi)
}
