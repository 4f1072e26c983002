package view

import (
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

// hud writes score and multiplier, hull, seals, heat, embers and memory at the edges. Above and below these are the
// edges of the window. Left and right they are those of the logical screen: a wide screen may have a camera there,
// or be held in two hands.
func (v *View) hud() {
	if v.titled() { // a title lies over no banner, and a table of figures over no other
		return
	}
	g, q, top := v.s.Game, &v.quads, v.reach.lo[1]
	v.text = render.AppendInt(v.text[:0], g.Score, 0)
	q.TextBytes(v.font, 10, top+8, 2, v.pal[4], v.text)
	if g.Multiplier > 1 {
		v.text = render.AppendInt(append(v.text[:0], "x"...), int64(g.Multiplier), 0)
		q.TextBytes(v.font, 10, top+34, 1, v.pal[3], v.text)
	}
	for i := range g.Player.Most {
		c := v.pal[3]
		if i >= g.Player.Hull {
			c = v.pal[1].Fade(0.8)
		}
		q.Rect(10+float32(i)*11, v.reach.hi[1]-16, 9, 5, c)
	}
	q.TextRight(v.font, Width-10, top+8, 1, dim.Fade(0.9), g.Realm.Info.Title)
	v.progress()
	v.drawMap()
	v.compass()
	v.offers()
	v.breath()
	v.shortage()
	v.absence(v.s.Ground.Missing())
	if share, ok := g.Boss(); ok {
		q.Rect(Width/2-120, top+14, 240, 4, v.pal[1])
		q.Rect(Width/2-120, top+14, 240*share, 4, v.pal[3])
		q.TextCentre(v.font, Width/2, top+20, 1, dim, "WARDEN")
	}
	v.banner()
}

// progress shows the seals, the heat, and the bar that embers fill.
func (v *View) progress() {
	g, q, top, foot := v.s.Game, &v.quads, v.reach.lo[1], v.reach.hi[1]
	for i := range g.Seals {
		s := &g.Seals[i]
		x := Width - 16 - float32(i)*14
		c := v.pal[3]
		if s.Broken {
			c = v.pal[1]
		}
		q.Ring(x, top+30, 5, 1.5, 0, 6, c)
		if !s.Broken {
			k := float32(s.HP) / float32(g.SealMost())
			q.Rect(x-2, top+32-4*k, 4, 4*k, c.Mix(white, s.Flash))
		}
	}
	const wide = 60
	q.Rect(Width-10-wide, top+40, wide, 3, v.pal[1])
	q.Rect(Width-10-wide, top+40, wide*g.Heat/game.HeatMost, 3, v.pal[2].Mix(v.pal[4], g.Heat/game.HeatMost))
	const long = 160
	q.Rect(Width/2-long/2, foot-8, long, 3, v.pal[1])
	q.Rect(Width/2-long/2, foot-8, long*g.Bar(), 3, v.pal[4])
}

// compass draws an arrow on an ellipse around the ship, towards the next goal, while that is out of sight. At the
// screen's edge it would lie under text.
func (v *View) compass() {
	g := v.s.Game
	if !g.Player.Alive || g.Phase == game.Leaving {
		return
	}
	to := v.cam.ToScreen(g.GoalAt())
	if lo, hi := v.reach.lo, v.reach.hi; to[0] > lo[0]+20 && to[0] < hi[0]-20 && to[1] > lo[1]+20 && to[1] < hi[1]-20 {
		return
	}
	const wide, high = 196, 118
	dir := to.Sub(vec{Width / 2, Height / 2}).Normalize()
	at := vec{Width/2 + wide*dir[0], Height/2 + high*dir[1]}
	c := v.pal[4]
	if !v.comfort.calm {
		c = v.pal[4].Fade(0.85 + 0.15*engine.Sin(v.time*5))
	}
	v.chevron(at, dir, 1.6, night.Fade(0.6)) // a rim, to distinguish it from a horde as bright
	v.chevron(at, dir, 0, c)
}

// chevron is hollow, unlike anything that flies; both strokes meet in its tip. It is wider by rim.
func (v *View) chevron(at, dir vec, rim float32, c render.Color) {
	across := vec{-dir[1], dir[0]}
	point := func(ahead, aside float32) vec { return at.Add(dir.Mul(ahead)).Add(across.Mul(aside)) }
	tip, notch := point(9+1.4*rim, 0), point(4.6-1.4*rim, 0)
	for _, s := range [2]float32{1, -1} {
		out, in := point(-1.4-0.3*rim, s*(8+rim)), point(-3.6-rim, s*(6.2+0.2*rim))
		v.quads.Tri(tip[0], tip[1], out[0], out[1], notch[0], notch[1], c)
		v.quads.Tri(out[0], out[1], in[0], in[1], notch[0], notch[1], c)
	}
}

// offers shows the three gifts to choose from, small and low: play goes on.
func (v *View) offers() {
	g, q := v.s.Game, &v.quads
	if !g.Offered || !g.Player.Alive || v.chosen() { // one thing to read at a time: the cards say the same
		return
	}
	const wide, high = 150, 34
	for i, k := range g.Offer {
		x, y := float32(Width/2-wide*3/2-8+i*(wide+8)), v.reach.hi[1]-16-high
		q.Rect(x, y, wide, high, render.Color{A: 0.7})
		q.Border(x, y, wide, high, 1, v.pal[3])
		v.text = append(append(render.AppendInt(v.text[:0], int64(i+1), 0), ' '), game.GiftNames[k]...)
		q.TextBytes(v.font, x+6, y+4, 1, v.pal[4], v.text)
		q.Text(v.font, x+6, y+18, 1, dim, game.GiftTexts[k])
	}
}

// breath is the game's own ornament: the pools of the last four seconds, which grow with every
// spark and shrink as it dies. What a frame takes from its arena hardly moves. What has always been there in
// these seconds is left out, or nothing would be seen to breathe.
func (v *View) breath() {
	var h [tiers.HistoryLen]float32
	v.s.Mem.Inspect().History(tiers.Pools, &h)
	const w, n = 80, 40
	const of = tiers.HistoryLen / n // frames: not every one need have been drawn
	var most [n]float32
	top, low := float32(1024), float32(1e12)
	for i := range most {
		for _, used := range h[of*i : of*i+of] {
			most[i] = max(most[i], used)
		}
		top = max(top, most[i]*1.02)
		if most[i] > 0 {
			low = min(low, most[i]*0.98)
		}
	}
	top = max(top, low*1.15) // what is almost still looks so
	q, foot := &v.quads, v.reach.hi[1]-10
	q.Rect(Width-10-w, foot, w, 1, v.pal[1])
	for i, used := range most {
		k := max(0, (used-low)/(top-low))
		x, y, c := Width-10-w+float32(i)*2, foot-14*k, v.pal[2].Light(0.25+0.5*float32(i)/n)
		q.Gradient(x, y, 2, 14*k, c, c.Light(0.3))
	}
}

// banner writes the phase of the game in large letters, and fades the picture when a realm begins or ends.
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
		v.reach.fill(q, v.pal[0].Fade(min(1, g.PhaseTime*g.PhaseTime)))
	case g.Phase == game.Over && v.Menu == nil: // else the shell has a screen for it
		v.over()
	}
	if v.alive < 0.5 {
		v.reach.fill(q, v.pal[0].Fade(1-v.alive*2))
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
	v.reach.fill(q, render.Color{A: min(0.6, g.PhaseTime)})
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

// loading shows the way to the next realm: its name, what is loading, and how far.
func (v *View) loading() {
	q := &v.quads
	base := v.pal[0]
	base.A = 1
	v.reach.fill(q, base)
	p := v.s.Flow.Progress()
	share := float32(0)
	if p.Total > 0 {
		share = float32(p.Done) / float32(p.Total)
	}
	m := v.s.Flow.Level()
	if v.titled() { // two names over each other are none
		return
	}
	if m != nil {
		q.TextCentre(v.font, Width/2, 140, 3, white, m.Title)
	}
	q.Rect(Width/2-120, 190, 240, 3, render.Color{R: 0.15, G: 0.13, B: 0.13, A: 1})
	q.Rect(Width/2-120, 190, 240*share, 3, render.RGB(0xffc246))
	v.names = v.s.Stream.AppendLoading(v.names[:0])
	y := float32(204)
	for _, n := range v.names[:min(len(v.names), 3)] {
		if m != nil && m.AssetOf(n) != "" {
			n = m.AssetOf(n)
		}
		q.TextCentre(v.font, Width/2, y, 1, dim, n)
		y += 14
	}
}
