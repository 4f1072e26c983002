package render

import (
	"github.com/go-gl/mathgl/mgl32"
	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/inpututil"
)

// devices reads Ebitengine's state into raw. It keeps the buffers that Ebitengine
// appends to, so that a tick allocates nothing.
type devices struct {
	pads    []ebiten.GamepadID
	fingers []ebiten.TouchID
}

func (d *devices) read(r *raw, vp Viewport) {
	*r = raw{}
	for k := ebiten.Key(0); k < ebiten.Key(keyCount); k++ {
		if ebiten.IsKeyPressed(k) {
			r.held.add(key(k))
		}
		if inpututil.IsKeyJustPressed(k) {
			r.struck.add(key(k))
		}
	}
	for b := range len(mouseNames) {
		if ebiten.IsMouseButtonPressed(ebiten.MouseButton(b)) {
			r.held.add(mouseButton(ebiten.MouseButton(b)))
		}
		if inpututil.IsMouseButtonJustPressed(ebiten.MouseButton(b)) {
			r.struck.add(mouseButton(ebiten.MouseButton(b)))
		}
	}
	d.readPads(r)
	inv := vp.View()
	x, y := ebiten.CursorPositionF()
	r.cursor = inv.Invert(mgl32.Vec2{float32(x), float32(y)})
	d.fingers = ebiten.AppendTouchIDs(d.fingers[:0])
	for _, id := range d.fingers[:min(len(d.fingers), len(r.touches))] {
		x, y := ebiten.TouchPositionF(id)
		r.touches[r.touchCount] = touch{int(id), inv.Invert(mgl32.Vec2{float32(x), float32(y)})}
		r.touchCount++
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
		for b := range len(padNames) {
			if ebiten.IsStandardGamepadButtonPressed(id, ebiten.StandardGamepadButton(b)) {
				r.held.add(padButton(ebiten.StandardGamepadButton(b)))
			}
		}
	}
}
