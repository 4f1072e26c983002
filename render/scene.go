package render

import (
	"fmt"
	"image"
	"math"

	"github.com/hajimehoshi/ebiten/v2"
)

// Resolution selects the pixels of the scene. The scene is drawn between Frame.BeginScene and Frame.EndScene. HUD,
// text and overlay are drawn after EndScene and always have the window's resolution.
type Resolution int

const (
	ResolutionAuto    Resolution = iota // logical if SoftwareLikely reports true, else native
	ResolutionNative                    // the window's pixels
	ResolutionLogical                   // one pixel for each logical pixel, enlarged without filtering
)

// logical reports whether the scene gets a picture of its own.
func (r Resolution) logical() bool {
	return r == ResolutionLogical || r == ResolutionAuto && SoftwareLikely()
}

func (r Resolution) check() error {
	if r < ResolutionAuto || r > ResolutionLogical {
		return fmt.Errorf("render: resolution %d; allowed are ResolutionAuto, ResolutionNative and ResolutionLogical", r)
	}
	return nil
}

// A target is a picture that batches are drawn on: the window, or the scene before it is enlarged.
type target struct {
	whole   *ebiten.Image
	clipped *ebiten.Image // the part of whole that is drawn on
	vp      Viewport
}

// A sceneBuffer is the scene's own picture. At twice the size it has a quarter of the
// window's pixels, and a renderer without a GPU is bound by pixels.
type sceneBuffer struct {
	img     *ebiten.Image
	vp      Viewport // where the logical screen lies in it
	verts   [VertsPerQuad]Vertex
	indices [IndicesPerQuad]uint32
}

// sceneOptions replace the window's pixels without reading them, and do not filter: one fetch a pixel, and sharp
// squares.
var sceneOptions = ebiten.DrawTrianglesOptions{
	ColorScaleMode: ebiten.ColorScaleModePremultipliedAlpha,
	Filter:         ebiten.FilterNearest,
	DisableMipmaps: true,
	Blend:          ebiten.BlendCopy,
}

// resize makes the picture for a logical screen with the bleed of vp, and frees the former one.
func (s *sceneBuffer) resize(w, h int, vp Viewport) {
	r := vp.Drawn()
	// By the final size of a logical pixel, which differs from the scale if that is no whole number.
	over := func(before, behind, all, logical int) int {
		return int(math.Ceil(float64(max(before, behind)) * float64(logical) / float64(all)))
	}
	x, y := over(vp.X-r.Min.X, r.Max.X-vp.X-vp.W, vp.W, w), over(vp.Y-r.Min.Y, r.Max.Y-vp.Y-vp.H, vp.H, h)
	s.vp = Viewport{X: x, Y: y, W: w, H: h, Scale: 1, Outer: image.Rect(0, 0, w+2*x, h+2*y)}
	w, h = s.vp.Outer.Dx(), s.vp.Outer.Dy()
	if s.img != nil {
		if s.img.Bounds().Size() == image.Pt(w, h) {
			return
		}
		s.img.Deallocate()
	}
	s.img = ebiten.NewImageWithOptions(image.Rect(0, 0, w, h), &ebiten.NewImageOptions{Unmanaged: true})
	index(&s.indices, 0)
}

// enlarge shows the picture in the viewport of a window, and in its bleed.
func (s *sceneBuffer) enlarge(to target) {
	b := s.img.Bounds()
	w, h := float32(b.Dx()), float32(b.Dy())
	kx, ky := float32(to.vp.W)/float32(s.vp.W), float32(to.vp.H)/float32(s.vp.H)
	x0, y0 := float32(to.vp.X)-kx*float32(s.vp.X), float32(to.vp.Y)-ky*float32(s.vp.Y)
	x1, y1 := x0+kx*w, y0+ky*h
	set(&s.verts[0], x0, y0, 0, 0, White)
	set(&s.verts[1], x1, y0, w, 0, White)
	set(&s.verts[2], x0, y1, 0, h, White)
	set(&s.verts[3], x1, y1, w, h, White)
	to.clipped.DrawTriangles32(s.verts[:], s.indices[:], s.img, &sceneOptions)
}

// BeginScene fills the scene with back, an opaque colour. Until EndScene, Draw, Submit, Bloom and [Tiles.Submit] draw
// on the scene. BeginScene returns the viewport of the scene. Use it for [Camera.View], and to draw the parts of the
// scene that do not move with the camera. At native resolution, or if the window's scale is at most 1, the scene is
// drawn directly on the window, and BeginScene returns the frame's own viewport. The fill costs less than a quad of the
// same size.
func (f *Frame) BeginScene(back Color) Viewport {
	if f.logical && f.Scale > 1 { // else the window has no more pixels than the scene
		f.scene.resize(f.logicalW, f.logicalH, f.Viewport)
		f.to = target{f.scene.img, f.scene.img, f.scene.vp}
	}
	if f.to.whole == f.screen.whole {
		f.cover()
	}
	f.back = back
	f.to.clipped.Fill(&f.back) // a pointer: boxing the value would be a Go allocation each frame
	return f.to.vp
}

// EndScene shows the scene in the window. It covers all shapes that were drawn on the window before. Shapes that are
// drawn later lie over the scene, at the window's resolution. Call EndScene before HUD and overlay. If Game.Draw returns
// without EndScene, Run calls it. If BeginScene was not called, or if the scene is drawn directly on the window,
// EndScene does nothing.
func (f *Frame) EndScene() {
	if f.to.whole != f.screen.whole {
		f.to = f.screen
		f.cover()
		f.scene.enlarge(f.to)
	}
}

// Crisp reports whether logical resolution is selected for the scene.
func (f *Frame) Crisp() bool { return f.logical }
