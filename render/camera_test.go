package render

import (
	"testing"

	"github.com/go-gl/mathgl/mgl32"
)

func TestFit(t *testing.T) {
	for _, c := range []struct {
		w, h int
		want Viewport
	}{
		{1280, 720, Viewport{0, 0, 1280, 720, 2}},
		{1920, 1080, Viewport{0, 0, 1920, 1080, 3}},
		{1366, 768, Viewport{43, 24, 1280, 720, 2}},
		{640, 360, Viewport{0, 0, 640, 360, 1}},
		{320, 180, Viewport{0, 0, 320, 180, 0.5}},
		{844, 390, Viewport{75, 0, 693, 390, 390.0 / 360}}, // a phone
		{1600, 900, Viewport{0, 0, 1600, 900, 2.5}},        // a whole scale would waste a fifth
		{1280, 1000, Viewport{0, 140, 1280, 720, 2}},
		{0, -5, Viewport{0, 0, 1, 1, 1.0 / 640}},
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
	if lo, hi := zero.Bounds(); lo != (mgl32.Vec2{-320, -180}) || hi != (mgl32.Vec2{320, 180}) {
		t.Errorf("the zero camera sees %v to %v", lo, hi)
	}
	if (View{}).Invert(mgl32.Vec2{1, 1}) != (mgl32.Vec2{}) {
		t.Error("a view without scale")
	}
}
