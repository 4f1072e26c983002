package render

import (
	"fmt"
	"image"
	"image/png"
	"io"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/engine/atomicfile"
)

// A Frame is the picture that is being drawn. A Frame is valid only during the call of Game.Draw or AfterDraw that
// receives it.
type Frame struct {
	Viewport                 // of the logical screen in the window
	ScreenW, ScreenH int     // the window in physical pixels
	Density          float32 // physical pixels of one device-independent pixel
	Tick             int64   // number of calls of Game.Update so far that returned nil

	screen             target // the window
	to                 target // the window, or the scene
	scene              sceneBuffer
	back               Color // what the scene was filled with
	clean              bool  // the window contains nothing of the former frame
	logical            bool  // the scene has a picture of its own
	logicalW, logicalH int
	bloomer            *bloomer
	bloomOn            bool
	reserve            *ebiten.Image
	err                error // the first failure, reported by Run
}

// drawOptions are the same for every frame: vertices are premultiplied, sprites are
// filtered, and mipmaps of a page would be made again after each upload.
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

// touch clears the window before the first thing is drawn on it. Ebitengine would do it each frame, but a scene
// covers all of it, and without a GPU every iteration over the window's pixels counts.
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

// Draw submits a batch in one draw call of the GPU, clipped to the viewport and its bleed. Draw draws on the scene
// between BeginScene and EndScene, and on the window at other times. If the atlas is nil or indices is empty, Draw does
// nothing. See [Atlas.Draw] for the requirements, the panics and the cost.
func (f *Frame) Draw(a *Atlas, verts []Vertex, indices []uint32) {
	if a == nil || len(indices) == 0 {
		return
	}
	f.touch()
	a.Draw(f.to.clipped, verts, indices)
}

// Image returns the picture of the window, including the black borders, for code that draws with Ebitengine, such as an
// overlay. Call EndScene first. The picture is valid as long as the Frame. If nothing was drawn in the window yet,
// Image clears the window.
func (f *Frame) Image() *ebiten.Image {
	f.touch()
	return f.screen.whole
}

// Submit is [Frame.Draw] for all vertices and indices of q. Submit may also copy up to 1023 unused vertices after the
// last vertex of q.
func (f *Frame) Submit(a *Atlas, q *Quads) {
	if a == nil || q.ni == 0 {
		return
	}
	f.touch()
	a.Submit(f.to.clipped, q)
}

// Bloom adds a glow to the picture drawn so far. Between BeginScene and EndScene this is the scene, at other times the
// window. Call Bloom after the world and before HUD and overlay, so that these stay sharp. If bloom is off, or
// o.Strength is not above 0, Bloom does nothing. If the shaders do not compile, Run returns the error. After this error,
// or an error of AfterDraw, Bloom does nothing.
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

// SetBloom turns bloom on or off, for this frame and all later frames.
func (f *Frame) SetBloom(on bool) { f.bloomOn = on }

// fail keeps the first failure for the next tick, which ends the game with it.
func (f *Frame) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// ReadPixels copies the current picture of the window into dst: rows from the top, 4 bytes a pixel, premultiplied
// RGBA. Call EndScene first. If dst does not have 4·ScreenW·ScreenH bytes, ReadPixels fails. ReadPixels waits for the
// GPU: use it for screenshots and tests.
func (f *Frame) ReadPixels(dst []byte) error {
	if want := 4 * f.ScreenW * f.ScreenH; len(dst) != want {
		return fmt.Errorf("render: ReadPixels into %d bytes; %d×%d takes %d", len(dst), f.ScreenW, f.ScreenH, want)
	}
	f.touch()
	f.screen.whole.ReadPixels(dst)
	return nil
}

// Screenshot writes the current picture of the window to a PNG file with [atomicfile.Write], and wraps its error. All
// pixels of the file are opaque. Call EndScene first. Screenshot waits for the GPU.
func (f *Frame) Screenshot(path string) error {
	img := image.NewRGBA(image.Rect(0, 0, f.ScreenW, f.ScreenH))
	if err := f.ReadPixels(img.Pix); err != nil {
		return err
	}
	// Pixels that additive light left half covered are opaque on the screen.
	for i := 3; i < len(img.Pix); i += 4 {
		img.Pix[i] = 255
	}
	if err := writePNG(path, img); err != nil {
		return fmt.Errorf("render: screenshot: %w", err)
	}
	return nil
}

// writePNG is an atomic write of a picture.
func writePNG(path string, img image.Image) error {
	return atomicfile.Write(path, func(w io.Writer) error { return png.Encode(w, img) })
}
