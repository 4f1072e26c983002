package view

import (
	"unsafe"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

var (
	white = render.Color{R: 1, G: 1, B: 1, A: 1}
	dim   = render.Color{R: 0.72, G: 0.68, B: 0.66, A: 1}
)

// hud writes at the edges: score and multiplier, hull, wave, and the memory that breathes.
func (v *View) hud() {
	if v.titled() { // a title lies over no banner, and a table of figures over no other
		return
	}
	g, q := v.s.Game, &v.quads
	v.text = render.AppendInt(v.text[:0], g.Score, 0)
	q.TextBytes(v.font, 10, 8, 2, v.pal[4], v.text)
	if g.Multiplier > 1 {
		v.text = render.AppendInt(append(v.text[:0], "x"...), int64(g.Multiplier), 0)
		q.TextBytes(v.font, 10, 34, 1, v.pal[3], v.text)
	}
	for i := range game.HullMax {
		c := v.pal[3]
		if i >= g.Player.Hull {
			c = v.pal[1].Fade(0.8)
		}
		q.Rect(10+float32(i)*11, Height-16, 9, 5, c)
	}
	v.text = append(append(v.text[:0], g.Level.Title...), "  "...)
	v.text = render.AppendInt(v.text, int64(min(g.Wave+1, g.Waves())), 0)
	v.text = render.AppendInt(append(v.text, '/'), int64(g.Waves()), 0)
	q.TextBytes(v.font, Width-10-render.Width(unsafe.String(&v.text[0], len(v.text)), 1), 8, 1, dim.Fade(0.9), v.text)
	v.breath()
	if share, ok := g.Boss(); ok {
		q.Rect(Width/2-120, 14, 240, 4, v.pal[1])
		q.Rect(Width/2-120, 14, 240*share, 4, v.pal[3])
		q.TextCentre(v.font, Width/2, 20, 1, dim, "WARDEN")
	}
	v.banner()
}

// breath is the game's own ornament: the pools of the last four seconds, which grow with every
// spark and shrink as it dies. What a frame takes from its arena hardly moves.
func (v *View) breath() {
	var h [tiers.HistoryLen]float32
	v.s.Mem.History(tiers.Pools, &h)
	top := float32(1024)
	for _, used := range h {
		top = max(top, used*1.2)
	}
	const w, n = 120, 60
	q := &v.quads
	q.Rect(Width-10-w, Height-10, w, 1, v.pal[1])
	for i := range n {
		most := float32(0) // of four frames: not every frame need have been drawn
		for _, used := range h[4*i : 4*i+4] {
			most = max(most, used)
		}
		k := most / top
		x, y, c := Width-10-w+float32(i)*2, Height-10-14*k, v.pal[2].Light(0.25+0.5*float32(i)/n)
		q.Gradient(x, y, 2, 14*k, c, c.Light(0.3))
	}
}

// banner says what is happening, large and short.
func (v *View) banner() {
	g, q := v.s.Game, &v.quads
	switch {
	case v.Menu != nil && v.Menu.Source.Screen() != shell.Playing: // one thing to read at a time
	case g.Phase == game.Announce:
		k := fadeInOut(g.PhaseTime, 0.6)
		y := v.below(92)
		q.TextCentre(v.font, Width/2, y, 3, v.pal[4].Fade(k), g.Title())
		q.Rect(Width/2-90*k, y+48, 180*k, 1, v.pal[3].Fade(k))
	case g.Phase == game.Opened:
		q.TextCentre(v.font, Width/2, v.below(92), 2, v.pal[4].Fade(0.6+0.4*engine.Sin(v.time*5)), "THE PORTAL IS OPEN")
	case g.Phase == game.Leaving:
		q.Rect(0, 0, Width, Height, v.pal[0].Fade(min(1, g.PhaseTime*g.PhaseTime)))
	case g.Phase == game.Over && v.Menu == nil: // else the shell has a screen for it
		v.over()
	}
	if v.alive < 0.5 {
		q.Rect(0, 0, Width, Height, v.pal[0].Fade(1-v.alive*2))
	}
}

// below moves what would begin at y under the overlay, as far as the game-over table then
// still fits.
func (v *View) below(y float32) float32 {
	return max(y, min(v.covered+8, 200))
}

func fadeInOut(t, length float32) float32 {
	return max(0, min(1, min(t*6, (length+0.15-t)*6)))
}

func (v *View) over() {
	g, q := v.s.Game, &v.quads
	q.Rect(0, 0, Width, Height, render.Color{A: min(0.6, g.PhaseTime)})
	top := v.below(96)
	q.TextCentre(v.font, Width/2, top, 4, v.pal[3], "COOLED DOWN")
	line := func(y float32, label string, n int64) {
		q.TextRight(v.font, Width/2-6, y, 1, dim, label)
		v.text = render.AppendInt(v.text[:0], n, 0)
		q.TextBytes(v.font, Width/2+6, y, 1, v.pal[4], v.text)
	}
	line(top+70, "SCORE", g.Score)
	line(top+86, "SECONDS", int64(g.Played/60))
	line(top+102, "MOST PARTICLES ALIVE", int64(g.Best))
	var snap tiers.Snapshot
	v.s.Mem.Snapshot(&snap)
	line(top+118, "COLLECTIONS IN PLAY", int64(snap.Go.InPlay))
	q.TextCentre(v.font, Width/2, top+144, 1, white, "R STARTS AGAIN")
}

// loading shows the way to the next level: its name, what is loading, and how far.
func (v *View) loading() {
	q := &v.quads
	base := v.pal[0]
	base.A = 1
	q.Rect(0, 0, Width, Height, base)
	p := v.s.Flow.Progress()
	share := float32(0)
	if p.Total > 0 {
		share = float32(p.Done) / float32(p.Total)
	}
	if l := v.s.Flow.Level(); l != nil {
		q.TextCentre(v.font, Width/2, 140, 3, white, l.Title)
	}
	q.Rect(Width/2-120, 190, 240, 3, render.Color{R: 0.15, G: 0.13, B: 0.13, A: 1})
	q.Rect(Width/2-120, 190, 240*share, 3, render.RGB(0xffc246))
	v.names = v.s.Loader.AppendLoading(v.names[:0])
	y := float32(204)
	for _, n := range v.names[:min(len(v.names), 3)] {
		q.TextCentre(v.font, Width/2, y, 1, dim, n)
		y += 14
	}
}
