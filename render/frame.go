package render

import (
	"fmt"
	"image"
	"image/png"
	"io"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/engine/atomicfile"
)

// A Frame is the picture that is being drawn. It is valid during the call of Draw that
// got it.
type Frame struct {
	Viewport               // where the logical screen lies, in physical pixels
	ScreenW, ScreenH int   // the window in physical pixels
	Tick             int64 // ticks updated so far

	screen             target // the window
	to                 target // what is drawn on: the window, or the scene
	scene              sceneBuffer
	back               Color // what the scene was filled with
	clean              bool  // the window holds nothing of the former frame
	logical            bool  // the scene has a picture of its own
	logicalW, logicalH int
	bloomer            *bloomer
	bloomOn            bool
	reserve            *ebiten.Image
	err                error // the first failure, reported by Run
}

// drawOptions are the same for every frame: vertices are premultiplied, sprites are
// filtered, and mipmaps of a page that takes uploads would be made again each time.
var drawOptions = ebiten.DrawTrianglesOptions{
	ColorScaleMode: ebiten.ColorScaleModePremultipliedAlpha,
	Filter:         ebiten.FilterLinear,
	DisableMipmaps: true,
}

// begin points the frame at a screen.
func (f *Frame) begin(screen *ebiten.Image, vp Viewport, tick int64) {
	f.Viewport, f.Tick = vp, tick
	f.ScreenW, f.ScreenH = screen.Bounds().Dx(), screen.Bounds().Dy()
	f.screen = target{screen, screen, vp}
	if r := vp.Drawn(); r != screen.Bounds() {
		f.screen.clipped = screen.SubImage(r).(*ebiten.Image)
	}
	f.to, f.clean = f.screen, false
}

// touch clears the window before the first thing is drawn on it. Ebitengine would do so each
// frame, but a scene covers it all, and without a GPU every pass over the window counts.
func (f *Frame) touch() {
	if !f.clean && f.to.whole == f.screen.whole {
		f.screen.whole.Clear()
		f.clean = true
	}
}

// cover is touch for something that will fill the viewport.
func (f *Frame) cover() {
	if r := f.Drawn(); r.Dx() == f.ScreenW && r.Dy() == f.ScreenH {
		f.clean = true
		return
	}
	f.touch() // the letterbox
}

// Draw submits a batch in one draw call of the GPU, clipped to the viewport and its bleed: to the scene between
// BeginScene and EndScene, to the window otherwise. The slices are copied and may lie
// off-heap. Vertices in pixels of what is drawn on, premultiplied, source-over.
func (f *Frame) Draw(a *Atlas, verts []Vertex, indices []uint32) {
	if a == nil || len(indices) == 0 {
		return
	}
	f.touch()
	a.Draw(f.to.clipped, verts, indices)
}

// Image returns the window's picture, the letterbox included, for what draws by itself: an overlay. A
// scene is to be ended before. It is valid during the call of Draw that got the frame.
func (f *Frame) Image() *ebiten.Image {
	f.touch()
	return f.screen.whole
}

// Submit is Draw for all that q holds. What lies behind its last vertex, as far as there is room, may be copied, too.
func (f *Frame) Submit(a *Atlas, q *Quads) {
	if a == nil || q.ni == 0 {
		return
	}
	f.touch()
	a.Submit(f.to.clipped, q)
}

// Bloom adds the glow of what was drawn so far: world first, then Bloom, then HUD and
// overlay, which stay crisp. It does nothing where bloom is off.
func (f *Frame) Bloom(o Bloom) {
	if !f.bloomOn || !(o.Strength > 0) || f.err != nil {
		return
	}
	if f.bloomer == nil {
		if f.bloomer, f.err = newBloomer(); f.err != nil {
			return
		}
	}
	f.touch()
	f.bloomer.apply(f.to, o)
}

// BloomOn reports whether Bloom does anything; SetBloom turns it on or off.
func (f *Frame) BloomOn() bool    { return f.bloomOn }
func (f *Frame) SetBloom(on bool) { f.bloomOn = on }

// fail keeps the first failure for the next tick, which ends the game with it.
func (f *Frame) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// ReadPixels reads what was drawn so far, the whole window, into dst: rows from the top,
// 4 bytes a pixel, premultiplied RGBA. dst must have 4*ScreenW*ScreenH bytes. It waits for
// the GPU: for screenshots and tests, not for play.
func (f *Frame) ReadPixels(dst []byte) error {
	if want := 4 * f.ScreenW * f.ScreenH; len(dst) != want {
		return fmt.Errorf("render: ReadPixels into %d bytes; %d×%d takes %d", len(dst), f.ScreenW, f.ScreenH, want)
	}
	f.touch()
	f.screen.whole.ReadPixels(dst)
	return nil
}

// Screenshot writes what was drawn so far to a PNG file. The file appears whole or not at
// all.
func (f *Frame) Screenshot(path string) error {
	img := image.NewRGBA(image.Rect(0, 0, f.ScreenW, f.ScreenH))
	if err := f.ReadPixels(img.Pix); err != nil {
		return err
	}
	// The window has no holes: what additive light left half covered is opaque on screen.
	for i := 3; i < len(img.Pix); i += 4 {
		img.Pix[i] = 255
	}
	if err := writePNG(path, img); err != nil {
		return fmt.Errorf("render: screenshot: %w", err)
	}
	return nil
}

// writePNG writes a picture whole or not at all.
func writePNG(path string, img image.Image) error {
	return atomicfile.Write(path, func(w io.Writer) error { return png.Encode(w, img) })
}
