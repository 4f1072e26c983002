package view

import (
	"strconv"

	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/render"
)

// slotRow draws a saved run: its picture, its realm with the heat, and its time with the score. On a narrow canvas they
// are in two lines.
func (m *Menu) slotRow(it *shell.Item) {
	b := it.Box
	c := soft
	m.q.Rect(b.X, b.Y+2, b.W, b.H-4, render.White.Fade(0.04))
	if it.Selected {
		c = m.bright()
		m.bar(b)
	}
	const side = 14
	m.q.Text(m.font, b.X+8, b.Y+(b.H-render.GlyphH)/2, 1, faint, it.Label)
	x, w := b.X+8+side, float32(0)
	if v := it.Save; v == nil || v.Broken != "" {
		text := "EMPTY"
		if v != nil {
			text = v.Broken
		}
		line, rest := split(text, int((b.W-side-24)/render.GlyphW))
		y := b.Y + (b.H-render.GlyphH*float32(min(2, 1+len(rest))))/2
		m.q.Text(m.font, x, y, 1, faint, line)
		if rest != "" {
			line, _ = split(rest, int((b.W-side-24)/render.GlyphW))
			m.q.Text(m.font, x, y+render.GlyphH, 1, faint, line)
		}
		return
	}
	v := it.Save
	if w = m.picture(v.Picture, x, b.Y+5, b.H-10); w > 0 {
		x += w + 12
	}
	y, end := b.Y+(b.H-30)/2, b.X+b.W-10
	m.q.Text(m.font, x, y, 1, c, v.Realm)
	m.text = group(m.text[:0], v.Score)
	m.q.TextBytes(m.font, end-render.GlyphW*float32(len(m.text)), y, 1, m.accent(), m.text)
	m.text = strconv.AppendFloat(append(m.text[:0], "HEAT "...), float64(v.Heat), 'f', 1, 32)
	if wide := len(m.text) + 2 + len(v.When); x+render.GlyphW*float32(wide+6) < end { // 6: the clock's
		m.text = append(append(m.text, "  "...), v.When...)
	}
	m.q.TextBytes(m.font, x, y+16, 1, faint, m.text)
	m.text = clock(m.text[:0], v.Ticks)
	m.q.TextBytes(m.font, end-render.GlyphW*float32(len(m.text)), y+16, 1, c, m.text)
}

// picture draws a small picture of a height, in the colours of the realm, and returns its width. Equal neighbours are one
// rectangle.
func (m *Menu) picture(p []byte, x, y, height float32) float32 {
	rows := len(p) / shell.PictureW
	if rows == 0 {
		return 0
	}
	dot := height / float32(rows)
	m.q.Rect(x-1, y-1, dot*shell.PictureW+2, height+2, m.accent().Fade(0.35))
	m.q.Rect(x, y, dot*shell.PictureW, height, night)
	for row := range rows {
		line := p[row*shell.PictureW:][:shell.PictureW]
		for i := 0; i < len(line); {
			k := i
			for k < len(line) && line[k] == line[i] {
				k++
			}
			if v := line[i]; v > 0 {
				m.q.Rect(x+dot*float32(i), y+dot*float32(row), dot*float32(k-i), dot, m.shadeOf(v))
			}
			i = k
		}
	}
	return dot * shell.PictureW
}

// shadeOf returns the colour of a pixel: the palette from dark to bright, and white.
func (m *Menu) shadeOf(v byte) render.Color {
	at := float32(v) / 255 * float32(len(m.Palette))
	i := min(int(at), len(m.Palette)-1)
	next := render.White
	if i+1 < len(m.Palette) {
		next = m.Palette[i+1]
	}
	return m.Palette[i].Mix(next, at-float32(i))
}
