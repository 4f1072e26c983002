package overlay

import (
	"image"

	"github.com/hajimehoshi/ebiten/v2"
)

// DrawFinal is [Overlay.Draw] for a game whose picture is smaller than its window, for example one of 320 by 240
// pixels. Call it in DrawFinalScreen of Ebitengine instead of Draw, after [ebiten.DefaultDrawFinalScreen] and with the
// same three arguments. The overlay is then drawn in pixels of the window, and finds the mouse and fingers by m. If m
// has no inverse, DrawFinal does nothing. Otherwise, if screen or picture is nil, DrawFinal panics with a
// [*memory.Misuse].
//
// Bottom, Covers, Avoid and Within are in pixels of screen. A dump contains picture, not screen. Config.Corner Free also
// compares the corners of picture. Unless [Overlay.Density] was called, the density is the scale factor of the monitor.
// DrawFinal costs as much as Draw. In every 60th call, and after a change of the size, it also allocates.
//
// If Draw of the game draws nothing for some pictures, and ebiten.SetScreenClearedEveryFrame(false) was called,
// Ebitengine does not call DrawFinalScreen, and the overlay stands still.
func (o *Overlay) DrawFinal(screen ebiten.FinalScreen, picture *ebiten.Image, m ebiten.GeoM) {
	if o == nil || !m.IsInvertible() {
		return
	}
	on, _ := screen.(*ebiten.Image)
	if on == nil || picture == nil {
		panic(misuse("DrawFinal", "it needs the screen of Ebitengine, and a picture"))
	}
	o.final = m
	if !o.dense {
		o.scr.density = o.monitor.density(on.Bounds())
	}
	o.draw(on, picture)
}

// A monitor is the monitor that has the window. Asking for its scale factor costs an allocation.
type monitor struct {
	ask    func() float64
	draws  int
	size   image.Rectangle // of the screen
	factor float32
}

// monitorAgain is the number of draws after which the factor is asked for again: the window may be on another monitor.
const monitorAgain = 60

// density returns the scale factor, for a screen of a size.
func (m *monitor) density(size image.Rectangle) float32 {
	if m.draws%monitorAgain == 0 || size != m.size {
		m.size, m.factor = size, clampDensity(float32(m.ask()))
	}
	m.draws++
	return m.factor
}

func scaleFactor() float64 {
	if m := ebiten.Monitor(); m != nil {
		return m.DeviceScaleFactor()
	}
	return 1
}

// onScreen turns a place in the game's picture into a place on the picture that the overlay is drawn on.
func (o *Overlay) onScreen(x, y float64) (float32, float32) {
	x, y = o.final.Apply(x, y)
	return float32(x), float32(y)
}
