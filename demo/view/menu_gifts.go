package view

import (
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/render"
)

// The symbols of gifts, for shell.Gift.Symbol. For any other number the menu draws a spark.
const (
	SymbolSpark = iota
	SymbolFan   // wider fire
	SymbolOrbit
	SymbolChain
	SymbolMine
	SymbolBeam
	SymbolHaste
	SymbolHull
	SymbolFrost
	SymbolFire
	Symbols // their number
)

// card draws a gift: a picture, its name, what it does.
func (m *Menu) card(it *shell.Item, i int) {
	gifts := m.Source.Gifts()
	if i >= len(gifts) {
		return
	}
	g, b, q := &gifts[i], it.Box, m.q
	k := m.arrive(10 + 5*float32(i))
	b.Y += (1 - k) * 24
	edge, c := faint.Fade(0.5*k), soft
	back := render.Color{R: 0.03, G: 0.028, B: 0.04, A: 0.94}
	if it.Selected {
		b.Y -= 4
		edge, c = m.accent().Fade(k), m.bright()
		q.Glow(b.X+b.W/2, b.Y+b.H/2, 150, m.accent().Light(0.10*k))
		back = back.Mix(m.accent(), 0.07)
		back.A = 0.96
	}
	q.Rect(b.X, b.Y, b.W, b.H, back.Fade(k))
	q.Border(b.X, b.Y, b.W, b.H, 1, edge)
	m.face(g, b, k, c.Fade(k), edge)
	if g.Have > 0 { // a pip for each that the player has
		for n := range min(g.Have, 8) {
			q.Rect(b.X+10+7*float32(n), b.Y+10, 5, 5, m.accent().Fade(k))
		}
	}
	if i < len(m.hints.choose) {
		q.TextRight(m.font, b.X+b.W-8, b.Y+6, 1, faint.Fade(k), m.hints.choose[i])
	}
}

// face draws the picture of a gift above its text, or left of it on a card that is wider than high. Picture and text fill
// the card, and what the gift changes stands at its foot.
func (m *Menu) face(g *shell.Gift, b shell.Box, k float32, c, edge render.Color) {
	q, x, width := m.q, b.X+b.W/2, b.W-8
	top, foot := b.Y+b.H*0.5, b.Y+b.H-36
	if b.W > b.H {
		q.Gradient(b.X, b.Y, 110, b.H, m.Palette[2].Fade(0.20*k), m.Palette[2].Fade(0.05*k))
		m.grown(g.Symbol, b.H/110, b.X+55, b.Y+b.H/2, k)
		x, width = b.X+110+(b.W-110)/2, b.W-118
		top, foot = b.Y+b.H*0.16, b.Y+b.H*0.72
	} else {
		q.Gradient(b.X, b.Y, b.W, b.H*0.48, m.Palette[2].Fade(0.20*k), render.Color{})
		m.grown(g.Symbol, b.H/170, x, b.Y+b.H*0.27, k)
	}
	q.TextCentre(m.font, x, top, min(1.5, width/render.Width(g.Name, 1)), c, g.Name)
	q.Rect(x-width/2+20, top+26, width-40, 1, edge)
	y := top + 34
	for _, s := range g.Lines[:min(len(g.Lines), 4)] {
		y = m.lines(x, y, width, soft.Fade(k), s)
	}
	high := 14*float32(rows(g.Figure, width)) + 10
	foot = max(foot, y+2, min(y+10, b.Y+b.H-high)) // not against the text, if there is space
	q.Rect(b.X+b.W-width-4, foot-4, width, high, m.Palette[2].Fade(0.12*k))
	m.lines(x, foot, width, m.accent().Fade(k), g.Figure)
}

// grown draws a symbol around a point, up to 1.6 times as large.
func (m *Menu) grown(symbol int, times, x, y, k float32) {
	v := m.q.SetView(render.View{})
	m.q.SetView(v.At(x, y).Zoom(min(max(times, 1), 1.6)))
	m.symbol(symbol, 0, 0, k)
	m.q.SetView(v)
}

// symbol draws a gift's picture around (x, y), about 60 across.
func (m *Menu) symbol(s int, x, y, k float32) {
	q, a, w := m.q, m.accent().Fade(k), m.bright().Fade(k)
	turn := m.Time * 0.8
	if m.calm {
		turn = 0.4
	}
	q.Glow(x, y, 40, m.accent().Light(0.28*k))
	switch s {
	case SymbolFan:
		for i := -2; i <= 2; i++ {
			dx, dy := engine.Sin(float32(i)*0.32), -engine.Cos(float32(i)*0.32)
			q.Line(x+dx*10, y+22+dy*10, x+dx*48, y+22+dy*48, 3, a)
			q.Glow(x+dx*48, y+22+dy*48, 5, w.Light(1))
		}
	case SymbolOrbit:
		q.Ring(x, y, 25, 1.5, 0, 0, a.Fade(0.6))
		q.Glow(x, y, 12, w.Light(1))
		for i := range 3 {
			px, py := x+25*engine.Cos(turn+float32(i)*2.0944), y+25*engine.Sin(turn+float32(i)*2.0944)
			q.Glow(px, py, 9, m.accent().Light(k))
			q.Glow(px, py, 5, w.Light(1))
		}
	case SymbolChain:
		p := [...][2]float32{{-30, -16}, {-12, 2}, {-4, -14}, {12, 12}, {18, -4}, {31, 18}}
		for i := range len(p) - 1 {
			q.Line(x+p[i][0], y+p[i][1], x+p[i+1][0], y+p[i+1][1], 5, m.accent().Light(0.6*k))
			q.Line(x+p[i][0], y+p[i][1], x+p[i+1][0], y+p[i+1][1], 2, w)
		}
		for _, i := range [...]int{0, 3, 5} {
			q.Ring(x+p[i][0], y+p[i][1], 6, 2, 0, 0, a)
		}
	case SymbolMine:
		q.Ring(x, y, 17, 4, turn*0.3, 6, a)
		q.Ring(x, y, 28, 1.5, -turn*0.3, 6, a.Fade(0.5))
		q.Glow(x, y, 11*m.pulse(5, 0.2), w.Light(1))
	case SymbolBeam:
		q.Glow(x, y+26, 14, w.Light(1))
		q.Gradient(x-7, y-34, 14, 60, render.Color{}, m.accent().Light(0.7*k))
		q.Gradient(x-2, y-34, 4, 60, a, w)
	case SymbolHaste:
		for i := range 3 {
			px, f := x-20+16*float32(i), (0.45+0.27*float32(i))*k
			q.Line(px, y-18, px+13, y, 4, m.bright().Fade(f))
			q.Line(px+13, y, px, y+18, 4, m.bright().Fade(f))
		}
	case SymbolHull:
		q.Ring(x, y, 26, 3, 0.5236, 6, a)
		q.Rect(x-3, y-12, 6, 24, w)
		q.Rect(x-12, y-3, 24, 6, w)
	case SymbolFrost:
		for i := range 3 {
			dx, dy := engine.Cos(float32(i)*1.0472+turn*0.2), engine.Sin(float32(i)*1.0472+turn*0.2)
			q.Line(x-dx*26, y-dy*26, x+dx*26, y+dy*26, 3, w)
		}
		q.Ring(x, y, 14, 2, turn*0.2, 6, a)
	case SymbolFire:
		for i, c := range [...]render.Color{m.accent().Mix(render.Black, 0.35).Fade(k), a, w} { // one within the other
			size := 1 - 0.3*float32(i)
			m.flame(x, y+26*(1-size), size, engine.Sin(turn*4+float32(i)), c)
		}
	default:
		q.Glow(x, y, 20, m.accent().Light(k))
		q.Glow(x, y, 11, w.Light(1))
	}
}

// flame draws a flame of 60 high, times size, whose tip leans by sway.
func (m *Menu) flame(x, y, size, sway float32, c render.Color) {
	outline := [...]vec{{4, -34}, {8, -18}, {18, -4}, {21, 10}, {15, 22}, {0, 27}, {-15, 22}, {-21, 9}, {-17, -3}, {-11, -12}, {-8, -3}, {-3, -16}, {4, -34}}
	at := func(i int) (px, py float32) {
		p := outline[i]
		return x + size*(p[0]-sway*min(p[1], 0)*0.08), y + size*p[1]
	}
	for i := range len(outline) - 1 {
		x0, y0 := at(i)
		x1, y1 := at(i + 1)
		m.q.Tri(x, y+size*9, x0, y0, x1, y1, c)
	}
}
