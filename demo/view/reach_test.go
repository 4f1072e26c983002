package view

import (
	"image"
	"math"
	"testing"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// shapes are windows of other shapes than the logical screen's: a phone's, an old monitor's, and one so wide that some
// stays black.
var shapes = map[string]image.Point{"a phone": {X: 844, Y: 390}, "a monitor": {X: 1024, Y: 768}, "a desk": {X: 3840, Y: 1080}}

func shaped(p image.Point) render.Viewport {
	if p.Y > p.X {
		return render.Fit(p.X, p.Y, Height, Width).Bleed(p.X, p.Y, Bleed)
	}
	return render.Fit(p.X, p.Y, Width, Height).Bleed(p.X, p.Y, Bleed)
}

// extent is the rectangle round all that is in a batch, in physical pixels.
func extent(q *render.Quads) (x0, y0, x1, y1 float32) {
	x0, y0 = math.MaxFloat32, math.MaxFloat32
	for _, v := range q.Vertices() {
		x0, y0, x1, y1 = min(x0, v.DstX), min(y0, v.DstY), max(x1, v.DstX), max(y1, v.DstY)
	}
	return x0, y0, x1, y1
}

// covers reports whether a batch has a quad over all of a rectangle.
func covers(q *render.Quads, r image.Rectangle) bool {
	const near = 0.01
	for v := q.Vertices(); len(v) > 0; v = v[render.VertsPerQuad:] {
		if v[0].DstX <= float32(r.Min.X)+near && v[0].DstY <= float32(r.Min.Y)+near && v[3].DstX >= float32(r.Max.X)-near && v[3].DstY >= float32(r.Max.Y)-near {
			return true
		}
	}
	return false
}

func TestReach_EveryScreenDarkensAllThatIsDrawnOn(t *testing.T) {
	testenv.Long(t)
	for name, p := range shapes {
		vp := shaped(p)
		for _, screen := range []shell.Screen{shell.Paused, shell.Setup, shell.Keys, shell.Gifts, shell.Ending, shell.Over, shell.Table, shell.Title} {
			b := newMenuBench(t)
			screens[screen](b.sh)
			b.shape(vp, 1, render.Keyboard)
			b.q.Begin(b.verts, b.ix, b.atlas, b.m.ui.view)
			b.m.begin(&b.q)
			if b.m.narrow() {
				b.m.shade()
			} else {
				b.m.Draw(&b.q)
			}
			if !covers(&b.q, vp.Drawn()) {
				t.Errorf("%s: screen %v leaves some of %v bright", name, screen, vp.Drawn())
			}
		}
	}
}

func TestReach_TheHUDIsAtTheFootOfTheWindowAndTheSidesOfTheScreen(t *testing.T) {
	testenv.Long(t)
	v := newView(t, brief(300), tiers.Config{})
	for name, p := range shapes {
		vp := shaped(p)
		v.frameOf(vp, 1)
		v.alive = 1 // no fade
		v.open()
		v.begin(game.Signs, v.ui.view)
		v.hud()
		x0, y0, x1, y1 := extent(&v.quads)
		if x0 < float32(vp.X) || x1 > float32(vp.X+vp.W) {
			t.Errorf("%s: the HUD is from %g to %g, the logical screen from %d to %d", name, x0, x1, vp.X, vp.X+vp.W)
		}
		d, edge := vp.Drawn(), 20*vp.Scale
		if y0 < float32(d.Min.Y) || y1 > float32(d.Max.Y) || y0 > float32(d.Min.Y)+edge || y1 < float32(d.Max.Y)-edge {
			t.Errorf("%s: the HUD is from %g down to %g in a window from %d to %d", name, y0, y1, d.Min.Y, d.Max.Y)
		}
	}
}

func TestReach_TheWorldIsSeenToTheEdgesOfTheWindow(t *testing.T) {
	testenv.Long(t)
	v := newView(t, brief(300), tiers.Config{})
	if err := v.Sink("vignette", stream.Picture{Width: 8, Height: 8, Pixels: make([]byte, 4*8*8)}); err != nil {
		t.Fatal(err)
	}
	for name, p := range shapes {
		vp := shaped(p)
		v.open()
		v.begin(game.Sprites, vp.View())
		v.world(vp)
		view, d := v.cam.View(vp), vp.Drawn()
		for _, c := range []struct{ got, want float32 }{
			{view.Apply(v.seen.lo)[0], float32(d.Min.X)}, {view.Apply(v.seen.lo)[1], float32(d.Min.Y)},
			{view.Apply(v.seen.hi)[0], float32(d.Max.X)}, {view.Apply(v.seen.hi)[1], float32(d.Max.Y)},
		} {
			if math.Abs(float64(c.got-c.want)) > 0.5 {
				t.Errorf("%s: what is seen ends at %g, the window at %g", name, c.got, c.want)
			}
		}
		v.begin(game.Sparks, vp.View())
		v.above(vp, false)
		if !covers(&v.quads, d) {
			t.Errorf("%s: the vignette has an edge within %v", name, d)
		}
	}
}
