package view

import "github.com/strata-go/strata/render"

// thumbs draws the buttons on the screen and the two sticks, for fingers. They lie where the window reads them, on the
// logical screen.
func (m *Menu) thumbs() {
	old := m.q.SetView(m.ui.screen)
	lo, hi := m.ui.safe()
	for b := range render.TouchButtons {
		at, r := b.Circle(lo, hi)
		m.button(b, at[0], at[1], r)
	}
	for i := range m.sticks {
		m.stick(&m.sticks[i], lo, hi, i)
	}
	m.q.SetView(old)
}

// safe returns the corners of the canvas in logical pixels.
func (c *Canvas) safe() (lo, hi vec) {
	at := func(p vec) vec { return c.screen.Invert(c.view.Apply(p)) }
	return at(vec{}), at(vec{c.W, c.H})
}

func (m *Menu) button(b render.TouchButton, x, y, r float32) {
	m.q.Ring(x, y, r/2, r, 0, 0, night.Fade(0.28))
	m.q.Ring(x, y, r, 1.5, 0, 0, m.bright().Fade(0.55))
	c := m.bright().Fade(0.75)
	switch b {
	case render.TouchDash:
		for i := range 2 {
			px := x - 10 + 11*float32(i)
			m.q.Line(px, y-9, px+8, y, 3, c)
			m.q.Line(px+8, y, px, y+9, 3, c)
		}
	case render.TouchRewind:
		for i := range 2 {
			px := x - 9 + 9*float32(i)
			m.q.Tri(px, y, px+9, y-7, px+9, y+7, c)
		}
	case render.TouchPause:
		m.q.Rect(x-6, y-8, 4, 16, c)
		m.q.Rect(x+2, y-8, 4, 16, c)
	case render.TouchOverlay:
		for i, h := range [...]float32{6, 12, 9} {
			m.q.Rect(x-7+5*float32(i), y+6-h, 3, h, c)
		}
	}
}

// Where the sticks rest, in logical pixels: above the gauges, and the right one, on a low screen, beside the button of
// the dash.
const (
	stickAbove = 92  // from the lower edge
	stickRight = 136 // from the right side of a low screen
)

// stickSize is half the diagonal of a stick.
var stickSize = vec{render.ThumbTravel + 2, render.ThumbTravel + 2}

// stick draws a thumb's stick where the thumb rests, or faintly where it may come down and no panel is.
func (m *Menu) stick(t *render.Thumb, lo, hi vec, side int) {
	at, k := vec{lo[0] + 76, hi[1] - stickAbove}, float32(0.22)
	if side == 1 {
		at[0] = hi[0] - 84
		if hi[1]-lo[1] <= hi[0]-lo[0] { // the button of the dash is there
			at[0] = hi[0] - stickRight
		}
	}
	if t.Down {
		at, k = t.Origin, 0.6
	} else if lo, hi := m.ui.FromScreen(at.Sub(stickSize)), m.ui.FromScreen(at.Add(stickSize)); m.Covers != nil && m.Covers(lo[0], lo[1], hi[0]-lo[0], hi[1]-lo[1]) {
		return // a thumb may come down there all the same
	}
	m.q.Ring(at[0], at[1], render.ThumbTravel, 2, 0, 0, m.bright().Fade(k))
	knob := at.Add(t.Pull.Mul(render.ThumbTravel))
	m.q.Ring(knob[0], knob[1], 9, 18, 0, 0, m.accent().Fade(k*0.5))
	m.q.Ring(knob[0], knob[1], 18, 2, 0, 0, m.bright().Fade(k))
	if side == 1 { // it fires: a cross
		m.q.Rect(knob[0]-6, knob[1]-0.75, 12, 1.5, m.bright().Fade(k))
		m.q.Rect(knob[0]-0.75, knob[1]-6, 1.5, 12, m.bright().Fade(k))
	}
}
