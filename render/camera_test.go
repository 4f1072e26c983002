package render

import (
	"image"
	"math"
	"testing"

	"github.com/go-gl/mathgl/mgl32"
)

func TestFit(t *testing.T) {
	for _, c := range []struct {
		w, h int
		want Viewport
	}{
		{1280, 720, Viewport{X: 0, Y: 0, W: 1280, H: 720, Scale: 2}},
		{1920, 1080, Viewport{X: 0, Y: 0, W: 1920, H: 1080, Scale: 3}},
		{1366, 768, Viewport{X: 43, Y: 24, W: 1280, H: 720, Scale: 2}},
		{640, 360, Viewport{X: 0, Y: 0, W: 640, H: 360, Scale: 1}},
		{320, 180, Viewport{X: 0, Y: 0, W: 320, H: 180, Scale: 0.5}},
		{844, 390, Viewport{X: 75, Y: 0, W: 693, H: 390, Scale: 390.0 / 360}}, // a phone
		{1600, 900, Viewport{X: 0, Y: 0, W: 1600, H: 900, Scale: 2.5}},        // a whole scale would waste a fifth
		{1280, 1000, Viewport{X: 0, Y: 140, W: 1280, H: 720, Scale: 2}},
		{0, -5, Viewport{X: 0, Y: 0, W: 1, H: 1, Scale: 1.0 / 640}},
	} {
		if got := Fit(c.w, c.h, LogicalW, LogicalH); got != c.want {
			t.Errorf("%d×%d: %+v, want %+v", c.w, c.h, got, c.want)
		}
	}
	for w := 1; w < 2000; w += 7 {
		for h := 1; h < 1200; h += 11 {
			if v := Fit(w, h, LogicalW, LogicalH); v.X < 0 || v.Y < 0 || v.X+v.W > w || v.Y+v.H > h || !(v.Scale > 0) {
				t.Fatalf("%d×%d: %+v", w, h, v)
			}
		}
	}
}

func TestBleed_FillsAWindowOfAnyShapeAndNoMoreThanItsMost(t *testing.T) {
	for _, c := range []struct {
		w, h, most int
		outer      image.Rectangle
	}{
		{1280, 720, 110, image.Rect(0, 0, 1280, 720)},   // of the same shape: nothing
		{1280, 800, 110, image.Rect(0, 0, 1280, 800)},   // a laptop
		{1366, 768, 110, image.Rect(0, 0, 1366, 768)},   // what a whole-number scale leaves
		{2532, 1170, 110, image.Rect(0, 0, 2532, 1170)}, // a phone
		{3000, 720, 110, image.Rect(640, 0, 2360, 720)}, // 860 to 2140, and 220 to each side
		{720, 1480, 100, image.Rect(0, 424, 720, 1055)}, // upright: 405 and twice 112.5, rounded up
		{1281, 721, 1, image.Rect(0, 0, 1281, 721)},     // an odd pixel
		{3000, 720, 0, image.Rect(860, 0, 2140, 720)},
		{3000, 720, math.MaxInt, image.Rect(0, 0, 3000, 720)}, // no limit
		{3000, 720, -100, image.Rect(860, 0, 2140, 720)},      // as 0
	} {
		vp := Fit(c.w, c.h, LogicalW, LogicalH).Bleed(c.w, c.h, c.most)
		if vp.Drawn() != c.outer {
			t.Errorf("%d×%d with %d: drawn on %v, want %v", c.w, c.h, c.most, vp.Drawn(), c.outer)
		}
		lo, hi := vp.Bounds()
		if v := vp.View(); v.Apply(lo).Sub(mgl32.Vec2{float32(c.outer.Min.X), float32(c.outer.Min.Y)}).Len() > 1e-2 ||
			v.Apply(hi).Sub(mgl32.Vec2{float32(c.outer.Max.X), float32(c.outer.Max.Y)}).Len() > 1e-2 {
			t.Errorf("%d×%d with %d: bounds %v to %v are not %v", c.w, c.h, c.most, lo, hi, c.outer)
		}
	}
	vp := Fit(3000, 720, LogicalW, LogicalH)
	if vp.Drawn() != image.Rect(860, 0, 2140, 720) {
		t.Errorf("without a bleed %v is drawn on", vp.Drawn())
	}
}

func TestCamera_ScreenAndWorldAreInverse(t *testing.T) {
	c := Camera{Center: mgl32.Vec2{100, -50}, Shake: mgl32.Vec2{3, -2}, Zoom: 1.5}
	vp := Viewport{X: 10, Y: 20, Scale: 2}
	if got := c.ToScreen(c.Center); !near(got, mgl32.Vec2{323, 178}) {
		t.Errorf("the centre is at %v", got)
	}
	for _, p := range []mgl32.Vec2{{0, 0}, {7, 9}, {-300, 44}} {
		if got := c.ToWorld(c.ToScreen(p)); got.Sub(p).Len() > 1e-3 {
			t.Errorf("%v came back as %v", p, got)
		}
		direct, viaScreen := c.View(vp).Apply(p), vp.View().Apply(c.ToScreen(p))
		if direct.Sub(viaScreen).Len() > 1e-2 {
			t.Errorf("%v: view %v, screen %v", p, direct, viaScreen)
		}
		if got := vp.View().Invert(vp.View().Apply(p)); got.Sub(p).Len() > 1e-3 {
			t.Errorf("view: %v came back as %v", p, got)
		}
	}
	var zero Camera
	if lo, hi := zero.Bounds(Fit(1280, 720, LogicalW, LogicalH)); lo != (mgl32.Vec2{-320, -180}) || hi != (mgl32.Vec2{320, 180}) {
		t.Errorf("the zero camera sees %v to %v", lo, hi)
	}
	if (View{}).Invert(mgl32.Vec2{1, 1}) != (mgl32.Vec2{}) {
		t.Error("a view without scale")
	}
}
