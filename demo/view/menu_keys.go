package view

import (
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/render"
)

// keys draws the controls of each action, and the prompt for a new one.
func (m *Menu) keys() {
	m.dim(textDark)
	m.heading("CONTROLS", max(2, m.head()-8))
	items := m.Source.Items()
	if m.Source.KeyDevice() != shell.Touch || len(items) == 0 {
		return
	}
	x, y := m.ui.W/2, items[len(items)-1].Box
	at := max(y.Y+y.H, items[0].Box.Y+items[0].Box.H) + 14
	for _, l := range touchLines {
		m.q.TextRight(m.font, x-8, at, 1, faint, l[0])
		m.q.Text(m.font, x+8, at, 1, soft, l[1])
		at += 18
	}
	if width := m.ui.W - 24; at+promptHigh(touchFixed, width) <= m.promptTop() {
		m.lines(x, at, width, m.accent(), touchFixed)
	}
}

const touchFixed = "KEYS ARE BOUND WITH A KEYBOARD"

// touchLines are the gestures on a screen. They cannot be changed.
var touchLines = [...][2]string{
	{"LEFT THUMB", "MOVE"}, {"RIGHT THUMB", "AIM AND FIRE"}, {"BUTTON >>", "DASH"}, {"BUTTON <<", "REWIND"}, {"BUTTON WITH BARS", "PAUSE"}, {"BUTTON WITH A CHART", "MEMORY"}, {"TAP", "CHOOSE"},
}

func (m *Menu) keyRow(it *shell.Item) {
	b, c := it.Box, soft
	if it.Selected {
		c = m.bright()
		m.q.Rect(b.X, b.Y, b.W, b.H, m.accent().Fade(0.10))
	}
	y := b.Y + (b.H-render.GlyphH)/2
	m.q.Text(m.font, b.X+14, y, 1, c, it.Label) // where the labels of other items begin
	for i, label := range it.Slots {
		s := it.SlotBox(i)
		here := it.Selected && i == it.Slot
		if here {
			m.q.Rect(s.X+2, s.Y, s.W-4, s.H, m.accent().Fade(0.28))
			m.q.Border(s.X+2, s.Y, s.W-4, s.H, 1, m.accent())
		}
		colour := soft
		switch {
		case here && it.Capturing:
			label, colour = "PRESS …", m.bright().Fade(m.pulse(8, 0.4))
		case label == "":
			label, colour = "—", faint.Fade(0.5)
		case here:
			colour = m.bright()
		}
		m.q.TextCentre(m.font, s.X+s.W/2, y, 1, colour, label)
	}
}
