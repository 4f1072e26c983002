package render

import (
	"github.com/go-gl/mathgl/mgl32"
	"github.com/hajimehoshi/ebiten/v2"
)

// devices reads Ebitengine's state into raw. It keeps the buffers that Ebitengine
// appends to, so that a tick allocates nothing.
type devices struct {
	pads    []ebiten.GamepadID
	fingers []ebiten.TouchID
}

// keyButtons are the keys of the buttons, in no order: several may press one.
var keyButtons = [...]struct {
	key    ebiten.Key
	button int
}{
	{ebiten.KeySpace, btnDash}, {ebiten.KeyShiftLeft, btnDash},
	{ebiten.KeyEscape, btnPause}, {ebiten.KeyP, btnPause},
	{ebiten.KeyR, btnRestart}, {ebiten.KeyM, btnMute},
	{ebiten.KeyDigit1, btnChoose}, {ebiten.KeyDigit2, btnChoose + 1}, {ebiten.KeyDigit3, btnChoose + 2},
	{ebiten.KeyF1, btnF + 1}, {ebiten.KeyF2, btnF + 2}, {ebiten.KeyF3, btnF + 3}, {ebiten.KeyF4, btnF + 4},
	{ebiten.KeyF5, btnF + 5}, {ebiten.KeyF6, btnF + 6}, {ebiten.KeyF7, btnF + 7}, {ebiten.KeyF8, btnF + 8},
}

// padButtons are the buttons of a gamepad of the standard layout.
var padButtons = [...]struct {
	pad    ebiten.StandardGamepadButton
	button int
}{
	{ebiten.StandardGamepadButtonRightBottom, btnDash},
	{ebiten.StandardGamepadButtonFrontTopLeft, btnDash},
	{ebiten.StandardGamepadButtonCenterRight, btnPause},
	{ebiten.StandardGamepadButtonCenterLeft, btnRestart},
	{ebiten.StandardGamepadButtonRightLeft, btnChoose},
	{ebiten.StandardGamepadButtonRightTop, btnChoose + 1},
	{ebiten.StandardGamepadButtonRightRight, btnChoose + 2},
}

func (d *devices) read(r *raw, vp Viewport) {
	*r = raw{}
	readKeys(r)
	d.readPads(r)
	inv := vp.View()
	x, y := ebiten.CursorPositionF()
	r.cursor = inv.Invert(mgl32.Vec2{float32(x), float32(y)})
	r.mouseFire = ebiten.IsMouseButtonPressed(ebiten.MouseButtonLeft)
	if r.mouseFire || ebiten.IsMouseButtonPressed(ebiten.MouseButtonRight) {
		r.buttons |= 1 << btnAny
	}
	d.fingers = ebiten.AppendTouchIDs(d.fingers[:0])
	for _, id := range d.fingers[:min(len(d.fingers), len(r.touches))] {
		x, y := ebiten.TouchPositionF(id)
		r.touches[r.touchCount] = touch{int(id), inv.Invert(mgl32.Vec2{float32(x), float32(y)})}
		r.touchCount++
	}
}

func readKeys(r *raw) {
	axis := func(lo1, lo2, hi1, hi2 ebiten.Key) (v float32) {
		if ebiten.IsKeyPressed(lo1) || ebiten.IsKeyPressed(lo2) {
			v--
		}
		if ebiten.IsKeyPressed(hi1) || ebiten.IsKeyPressed(hi2) {
			v++
		}
		return v
	}
	r.keys[0] = axis(ebiten.KeyA, ebiten.KeyArrowLeft, ebiten.KeyD, ebiten.KeyArrowRight)
	r.keys[1] = axis(ebiten.KeyW, ebiten.KeyArrowUp, ebiten.KeyS, ebiten.KeyArrowDown)
	for _, k := range keyButtons {
		if ebiten.IsKeyPressed(k.key) {
			r.buttons |= 1 << k.button
		}
	}
	for k := ebiten.Key(0); k <= ebiten.KeyMax; k++ {
		// The overlay's keys open the overlay; they do not start the game.
		if (k < ebiten.KeyF1 || k > ebiten.KeyF12) && ebiten.IsKeyPressed(k) {
			r.buttons |= 1 << btnAny
			break
		}
	}
}

// readPads adds up all gamepads, so that it does not matter which one is held.
func (d *devices) readPads(r *raw) {
	d.pads = ebiten.AppendGamepadIDs(d.pads[:0])
	for _, id := range d.pads {
		if !ebiten.IsStandardGamepadLayoutAvailable(id) {
			continue
		}
		stick := func(h, v ebiten.StandardGamepadAxis) mgl32.Vec2 {
			return mgl32.Vec2{float32(ebiten.StandardGamepadAxisValue(id, h)), float32(ebiten.StandardGamepadAxisValue(id, v))}
		}
		left := stick(ebiten.StandardGamepadAxisLeftStickHorizontal, ebiten.StandardGamepadAxisLeftStickVertical)
		right := stick(ebiten.StandardGamepadAxisRightStickHorizontal, ebiten.StandardGamepadAxisRightStickVertical)
		r.left, r.right = r.left.Add(left), r.right.Add(right)
		for _, b := range padButtons {
			if ebiten.IsStandardGamepadButtonPressed(id, b.pad) {
				r.buttons |= 1<<b.button | 1<<btnAny
			}
		}
		// A full pull of the right stick fires by itself, as in other twin-stick games.
		r.padFire = r.padFire || right.Len() > 0.8 ||
			ebiten.IsStandardGamepadButtonPressed(id, ebiten.StandardGamepadButtonFrontBottomRight)
	}
}
