package render

import (
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"testing"

	"github.com/go-gl/mathgl/mgl32"
	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// A scene with a rectangle that begins between two logical pixels, and one over it on the
// window.
func drawScene(f *Frame, q *Quads, a *Atlas, _ *Font) {
	vp := f.BeginScene(RGB(0x102030))
	q.Begin(q.verts, q.indices, a, vp.View())
	q.Rect(50.5, 40, 10, 10, RGB(0xff0000))
	cam := Camera{Center: mgl32.Vec2{1000, 1000}, Zoom: 2}
	q.SetView(cam.View(vp))
	q.Rect(1000, 1000, 5, 5, RGB(0x00ff00)) // right of the middle and below it
	f.Submit(a, q)
	f.EndScene()
	q.Begin(q.verts, q.indices, a, f.View())
	q.Rect(100.5, 40, 10, 10, RGB(0x0000ff))
}

func drawUnended(f *Frame, q *Quads, a *Atlas, _ *Font) {
	q.Begin(q.verts, q.indices, a, f.BeginScene(RGB(0x405060)).View())
	f.Submit(a, q)
	q.Begin(q.verts, q.indices, a, f.View())
}

func TestScene_StandsWhereItStoodAtAnyResolution(t *testing.T) {
	for _, name := range []string{"logical", "native"} {
		img, _ := picture(t, name)
		vp := Fit(img.Bounds().Dx(), img.Bounds().Dy(), LogicalW, LogicalH)
		k := vp.W / LogicalW
		at := func(x, y int) (int, int) { return vp.X + x*k, vp.Y + y*k }
		for _, c := range []struct {
			x, y int
			hex  uint32
		}{{10, 10, 0x102030}, {55, 45, 0xff0000}, {325, 185, 0x00ff00}, {317, 185, 0x102030}, {105, 45, 0x0000ff}, {639, 359, 0x102030}} {
			x, y := at(c.x, c.y)
			want(t, img, x, y, c.hex, 1)
		}
		if vp.Y > 0 {
			want(t, img, vp.X+50, vp.Y-1, 0, 0)
			want(t, img, vp.X+50, vp.Y+vp.H, 0, 0)
		}
	}
}

func TestScene_LogicalPixelsAreSquaresAndTheWindowsAreNot(t *testing.T) {
	img, _ := picture(t, "logical")
	vp := Fit(img.Bounds().Dx(), img.Bounds().Dy(), LogicalW, LogicalH)
	k := vp.W / LogicalW
	if k < 2 {
		testenv.Missing(t, fmt.Sprintf("a window of %v has no room for squares", img.Bounds()))
	}
	mixed := 0
	for y := range LogicalH {
		for x := range LogicalW {
			if !uniform(img, vp.X+x*k, vp.Y+y*k, k) {
				if mixed++; x < 100 || x > 111 || y < 40 || y > 50 {
					t.Fatalf("logical pixel %d,%d is not a square", x, y)
				}
			}
		}
	}
	if mixed == 0 {
		t.Error("what is drawn after EndScene has logical pixels, too")
	}
}

// uniform reports whether the k × k pixels from (x, y) have one colour.
func uniform(img image.Image, x, y, k int) bool {
	first := color.RGBAModel.Convert(img.At(x, y))
	for j := range k {
		for i := range k {
			if color.RGBAModel.Convert(img.At(x+i, y+j)) != first {
				return false
			}
		}
	}
	return true
}

// drawBleed has something on each side of both edges of the logical screen: in the scene, on the window, and as
// particles would be there.
func drawBleed(f *Frame, q *Quads, a *Atlas, _ *Font) {
	vp := f.BeginScene(RGB(0x102030))
	q.Begin(q.verts, q.indices, a, vp.View())
	q.Rect(-30, 40, 10, 10, RGB(0xff0000))
	q.Rect(660, 40, 200, 10, RGB(0xff0000)) // and beyond the bleed
	cam := Camera{Center: mgl32.Vec2{1000, 1000}}
	lo, hi := cam.Bounds(vp)
	q.SetView(cam.View(vp))
	q.Rect(lo[0], lo[1], 6, 6, RGB(0x00ff00)) // the first and the last that is in sight
	q.Rect(hi[0]-6, hi[1]-6, 6, 6, RGB(0x00ff00))
	f.Submit(a, q)
	f.EndScene()
	q.Begin(q.verts, q.indices, a, f.View())
	q.Rect(-20, 100, 10, 10, RGB(0x0000ff))
}

func TestScene_GoesOnInTheBleedAndNoFarther(t *testing.T) {
	for _, name := range []string{"bleed", "bleedlog"} {
		img, _ := picture(t, name)
		w, h := img.Bounds().Dx(), img.Bounds().Dy()
		vp := Fit(w, h, LogicalW, LogicalH).Bleed(w, h, 40)
		if vp.X < 100 {
			t.Fatalf("%d×%d has no room for a bleed", w, h)
		}
		at := func(x, y float32) (int, int) {
			p := vp.View().Apply(mgl32.Vec2{x, y})
			return int(p[0]), int(p[1])
		}
		for _, c := range []struct {
			x, y float32
			hex  uint32
		}{
			{10, 10, 0x102030}, {-35, 10, 0x102030}, {675, 10, 0x102030}, {-35, 355, 0x102030},
			{-25, 45, 0xff0000}, {665, 45, 0xff0000}, {675, 45, 0xff0000},
			{-37, 3, 0x00ff00}, {677, 357, 0x00ff00}, {-15, 105, 0x0000ff},
			{-45, 45, 0}, {690, 45, 0}, {-45, 10, 0}, {690, 355, 0},
		} {
			x, y := at(c.x, c.y)
			t.Run(fmt.Sprintf("%s at %g,%g", name, c.x, c.y), func(t *testing.T) { want(t, img, x, y, c.hex, 1) })
		}
	}
}

// TestScene_EnlargedCoversAllThatIsDrawnOn: to the middle of the last pixel, as what is drawn on is not cleared before.
func TestScene_EnlargedCoversAllThatIsDrawnOn(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	on := ebiten.NewImageWithOptions(image.Rect(0, 0, 1, 1), &ebiten.NewImageOptions{Unmanaged: true})
	var s sceneBuffer
	for range 3000 {
		w, h, lw, lh := 1+r.IntN(4000), 1+r.IntN(3000), 1+r.IntN(800), 1+r.IntN(500)
		vp := Fit(w, h, lw, lh).Bleed(w, h, r.IntN(2000))
		if !(vp.Scale > 1) {
			continue
		}
		s.resize(lw, lh, vp)
		if v := s.vp; v.Scale != 1 || v.W != lw || v.H != lh {
			t.Fatalf("a logical pixel of the scene's picture is %g pixels, and its screen %d×%d instead of %d×%d", v.Scale, v.W, v.H, lw, lh)
		}
		s.enlarge(target{on, on, vp})
		d, v := vp.Drawn(), &s.verts
		if v[0].DstX > float32(d.Min.X)+0.5 || v[0].DstY > float32(d.Min.Y)+0.5 || v[3].DstX < float32(d.Max.X)-0.5 || v[3].DstY < float32(d.Max.Y)-0.5 {
			t.Fatalf("%d×%d logical pixels in a window of %d×%d cover %g,%g to %g,%g of %v", lw, lh, w, h, v[0].DstX, v[0].DstY, v[3].DstX, v[3].DstY, d)
		}
	}
}

// drawBleedGlow has a light beyond the edge of the logical screen, whose glow reaches on both sides.
func drawBleedGlow(f *Frame, q *Quads, a *Atlas, _ *Font) {
	q.Begin(q.verts, q.indices, a, f.BeginScene(RGB(0x000000)).View())
	q.Rect(-14, 160, 10, 40, RGB(0xffe0a0))
	f.Submit(a, q)
	f.Bloom(DefaultBloom)
	f.EndScene()
	q.Begin(q.verts, q.indices, a, f.View())
}

func TestBloom_ReachesIntoTheBleed(t *testing.T) {
	img, _ := picture(t, "bleedglow")
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	v := Fit(w, h, LogicalW, LogicalH).View()
	for _, x := range []float32{-20, 2} {
		p := v.Apply(mgl32.Vec2{x, 180})
		if r, _, _, _ := img.At(int(p[0]), int(p[1])).RGBA(); r < 10<<8 {
			t.Errorf("no glow at %g: red is %d", x, r>>8)
		}
	}
}

func TestScene_NotEndedShowsAllTheSame(t *testing.T) {
	img, _ := picture(t, "unended")
	want(t, img, img.Bounds().Dx()/2, img.Bounds().Dy()/2, 0x405060, 1)
}

func TestResolution_NamedOnesDoNotAskTheRenderer(t *testing.T) {
	if ResolutionNative.logical() || !ResolutionLogical.logical() || ResolutionAuto.logical() != SoftwareLikely() {
		t.Error("a resolution is not what it is called")
	}
}
