package view

import (
	"github.com/strata-go/strata/demo/coach"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/render"
)

// comfort is the player's settings of the picture. The zero value is a view without a shell.
type comfort struct {
	on    bool // the rest is set
	shake float32
	calm  bool // flashing is reduced
	clear bool // the palette for colour-blind players
	bloom bool
}

// clearPalette is for colour-blind players: blue, orange and near white (Okabe and Ito, 2008) also differ in lightness.
var clearPalette = [5]render.Color{render.RGB(0x06080e), render.RGB(0x123456), render.RGB(0x56b4e9), render.RGB(0xe69f00), render.RGB(0xfff4d2)}

// emberPalette is the palette of menus until there is a realm.
var emberPalette = [5]render.Color{render.RGB(0x0a0607), render.RGB(0x4a1218), render.RGB(0xd4521e), render.RGB(0xffb02e), render.RGB(0xfff1d0)}

// Attach makes Draw show the menus of source over the game. The View keeps both arguments; they must not be nil.
func (v *View) Attach(source MenuSource, b *render.Bindings) {
	v.Menu = NewMenu(v.font, source, b)
	v.Menu.Palette, v.Menu.legend, v.Menu.Covers = emberPalette, v.legend, v.hidden
}

// Comfort applies the settings of the picture: shaking, flashing, palette and bloom. It does not keep s.
func (v *View) Comfort(s *shell.Settings) {
	v.comfort = comfort{
		on: true, shake: float32(s.Shake) / shell.Steps, calm: s.Calm, clear: s.Clear,
		bloom: s.Bloom == shell.BloomOn || s.Bloom == shell.BloomAuto && !render.SoftwareLikely(),
	}
}

// Point sets the point at which the player aims, in logical pixels, the device in use, and the thumbs on the screen. If
// on is true, a reticle is drawn at the point during play. Call [View.Attach] first: before Attach, Point ignores the
// device.
func (v *View) Point(at vec, d render.Device, on bool, thumbs [2]render.Thumb) {
	v.pointer, v.pointing, v.thumbs = at, on, thumbs
	if v.Menu != nil {
		v.Menu.Device = d
	}
}

// menu draws the reticle and the shell's screen over what is drawn.
func (v *View) menu() {
	if v.Menu == nil {
		return
	}
	m := v.Menu
	if v.s.Playing() && v.pal[3] != (render.Color{}) {
		m.Palette = v.pal
	}
	m.Time, m.ui, m.sticks, m.Hint, m.played = v.time, v.ui, v.thumbs, "", nil
	if v.s.Playing() {
		m.played = v.s.Game
	}
	m.away = v.menuAbove() && m.obscures()
	v.Overlay.Hide(m.away)
	if v.teacher.line == coach.Gift {
		m.hint()
		m.Hint = m.hints.coach[coach.Gift]
	}
	if v.pointing && m.Source.Screen() == shell.Playing {
		v.reticle()
	}
	m.begin(&v.quads)
	switch {
	case v.peeks():
	case !v.menuAbove() && !v.thumbsAbove():
		v.drawMenu()
	case m.narrow():
		m.shade()
	}
}

// reticle lies where the mouse is.
func (v *View) reticle() {
	q, c := &v.quads, v.Menu.bright()
	at := v.ui.FromScreen(v.pointer)
	x, y := at[0], at[1]
	q.Ring(x, y, 7, 1.5, 0, 0, c.Fade(0.9))
	q.Rect(x-0.75, y-0.75, 1.5, 1.5, c)
	for _, d := range [4]vec{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
		q.Line(x+d[0]*7, y+d[1]*7, x+d[0]*11, y+d[1]*11, 1.2, c.Fade(0.7))
	}
}

// titled reports whether a screen of the shell covers the HUD.
func (v *View) titled() bool {
	return v.Menu != nil && v.Menu.Source.Screen() != shell.Playing && v.Menu.Source.Screen() != shell.Gifts
}

// chosen reports whether a menu is shown.
func (v *View) chosen() bool {
	return v.Menu != nil && v.Menu.Source.Screen() != shell.Playing && !v.peeks()
}

// peeks reports whether the gifts are hidden because the game is frozen: the player selects a tick, and must see it.
func (v *View) peeks() bool {
	return v.Menu != nil && v.Menu.Source.Screen() == shell.Gifts && v.frozen
}

// thumbsAbove reports whether a button for fingers lies below a panel. Buttons and sticks are then drawn over the
// overlay.
func (v *View) thumbsAbove() bool {
	if v.Menu == nil || v.Menu.Device != render.Touch || v.Menu.Source.Screen() != shell.Playing {
		return false
	}
	lo, hi := v.ui.safe()
	for b := range render.TouchButtons {
		at, r := b.Circle(lo, hi)
		if p := v.ui.screen.Apply(at.Sub(vec{r, r})); v.Overlay.Covers(p[0], p[1], 2*r*v.ui.screen.Scale, 2*r*v.ui.screen.Scale) {
			return true
		}
	}
	return false
}

// menuAbove reports whether a menu is drawn over the overlay, which keeps its place. In a frozen game the overlay is
// above: it has the controls.
func (v *View) menuAbove() bool { return v.chosen() && !v.frozen }
