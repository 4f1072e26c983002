package view

import (
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/render"
)

// A cell is a word and its figure, which is a part of Menu.text.
type cell struct {
	label    string
	from, to int
	line     int // on which it lies
}

const (
	cellGap  = 3 * render.GlyphW // between two cells of a line
	runAbove = 12                // between the items and the run
	runStep  = 15
)

func (c *cell) wide() float32 {
	w := render.Width(c.label, 1) + float32(c.to-c.from)*render.GlyphW
	if c.label != "" && c.to > c.from {
		w += render.GlyphW
	}
	return w
}

// gather lists what the run has reached: the time, the score and the fallen enemies, and on lines of their own the
// gifts. It returns the size of these lines.
func (m *Menu) gather() (wide, high float32) {
	m.text, m.cells = m.text[:0], m.cells[:0]
	g := m.played
	if g == nil {
		return 0, 0
	}
	line, x, most := 0, float32(0), min(m.ui.W-12, takenWide)
	put := func(label string, from int) {
		c := cell{label: label, from: from, to: len(m.text)}
		if w := c.wide(); x > 0 && x+cellGap+w > most {
			line, x = line+1, w
		} else if x > 0 {
			x += cellGap + w
		} else {
			x = w
		}
		c.line, wide = line, max(wide, x)
		m.cells = append(m.cells, c)
	}
	m.text = clock(m.text, g.Played)
	put("TIME", 0)
	from := len(m.text)
	m.text = group(m.text, g.Score)
	put("SCORE", from)
	from = len(m.text)
	m.text = group(m.text, int64(g.Kills))
	put("FALLEN", from)
	line, x = line+1, 0
	for k, n := range g.Gifts {
		if n > 0 {
			from = len(m.text)
			m.text = render.AppendInt(m.text, int64(n), 0)
			put(game.GiftNames[k], from)
		}
	}
	if x == 0 {
		line--
	}
	return wide, runStep * float32(line+1)
}

// runEnd returns where the run ends at most: above the prompt and, on an upright screen, above panels.
func (m *Menu) runEnd() float32 {
	f := m.space()
	return min(m.promptTop(), f.Y+f.H)
}

// run writes the name of the realm above the items, and what gather lists in centred lines below them, as far as there
// is space.
func (m *Menu) run() {
	if m.gather(); m.played == nil {
		return
	}
	m.q.TextCentre(m.font, m.middle(), m.top()-23, 1, m.accent().Fade(m.arrive(12)), m.played.Title())
	_, _, y := m.extent()
	y += runAbove
	for first, top := 0, m.runEnd(); first < len(m.cells) && y+runStep-1 <= top; {
		end, wide := first, float32(-cellGap)
		for ; end < len(m.cells) && m.cells[end].line == m.cells[first].line; end++ {
			wide += cellGap + m.cells[end].wide()
		}
		x := m.middle() - wide/2
		for ; first < end; first++ {
			c := &m.cells[first]
			m.q.Text(m.font, x, y, 1, soft, c.label)
			x += c.wide()
			m.q.TextBytes(m.font, x-float32(c.to-c.from)*render.GlyphW, y, 1, m.bright(), m.text[c.from:c.to])
			x += cellGap
		}
		y += runStep
	}
}
