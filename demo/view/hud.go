package view

import (
	"image"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

var (
	white = render.Color{R: 1, G: 1, B: 1, A: 1}
	dim   = render.Color{R: 0.72, G: 0.68, B: 0.66, A: 1}
)

// hud draws score and multiplier, hull, seals, heat, embers and memory inside the safe rectangle. Each has a plate of
// its own, as the horde is as bright as the figures.
func (v *View) hud() {
	if v.chosen() { // text lies over no text
		return
	}
	at := v.safe()
	v.scores(at.lo)
	v.progress(vec{at.hi[0], at.lo[1]})
	v.gauges(at)
	v.drawMap()
	v.hint()
	v.announce()
	v.offers()
	v.shortage()
	v.absence(v.s.Ground.Missing())
	v.slowness()
	v.rewindOff()
	v.rewinding()
	v.compass() // beside hint and notices
	if share, ok := v.s.Game.Boss(); ok {
		middle, wide := v.bossAt(at)
		v.bossGauge(middle, wide, share)
	}
	v.banner()
}

// gauges draws hull, charges, embers and memory at the foot: in one row, which the overlay leaves free, or on a high
// canvas in two.
func (v *View) gauges(at reach) {
	hull := 26 + 11*float32(v.s.Game.Player.Most)
	x, y, second := at.lo[0]+hull+gaugeGap, at.hi[1], at.hi[1]
	if v.ui.tall() {
		x, second = at.lo[0], y-gaugeRow
	}
	free, memory := at.hi[0]-memoryWide-gaugeGap, true // where the row ends for the other gauges
	if v.ui.tall() {
		free, memory = at.hi[0], at.lo[0]+hull < at.hi[0]-memoryWide
	} else if free-x-chargesWide-gaugeGap < embersLeast {
		free, memory = at.hi[0], false
	}
	v.hullGauge(vec{at.lo[0], y})
	v.chargeGauge(vec{x, second})
	x += chargesWide + gaugeGap
	wide := min(embersWide, free-x)
	if v.ui.tall() { // to the edge of the other plates
		wide = free + 8 - x
	}
	v.emberGauge(vec{max(x, min(v.ui.W/2-wide/2, free-wide)), second}, wide)
	if memory {
		v.memoryGauge(at.hi)
	}
}

const (
	gaugeRow    = 20                          // from a gauge to one above it
	gaugeHigh   = 17                          // of a gauge
	gaugeGap    = 6                           // between two gauges of a row
	chargesWide = 26 + 11*session.ChargesMost // of the gauge of the charges
	embersWide  = 214                         // of the gauge of the embers, at most
	embersLeast = 124                         // beside the gauge of memory
	memoryWide  = 176                         // of the gauge of memory, at most
)

// safe is where the HUD lies. Above and below these are the edges of the window. Left and right they are those of the
// logical screen: a wide screen may have a camera there, or be held in two hands.
func (v *View) safe() reach {
	return reach{vec{10, v.reach.lo[1] + 8}, vec{v.ui.W - 10, v.reach.hi[1] - 8}}
}

// margins returns the shares of the window's height that the overlay leaves to the HUD: to score, seals and heat above,
// and to the gauges below. The overlay keeps a step of its grid besides, which a low window uses, and rounds to its
// pixels.
func (v *View) margins() (top, bottom float32) {
	drawn, high := v.port.Drawn(), float32(2*v.port.Y+v.port.H)
	above, below := float32(progressHigh+4), float32(gaugeHigh+8)
	if v.ui.tall() {
		below += gaugeRow
	}
	used := render.Grid*min(1, Height/high) - 1
	if v.ui.tall() && v.ui.Device == render.Touch { // the buttons are beside panels otherwise, see panelArea
		below = max(below, v.sticksHigh())
		lo, hi := v.ui.safe()
		at, r := render.TouchOverlay.Circle(lo, hi)
		above = v.ui.FromScreen(at.Add(vec{r, r}))[1] - v.reach.lo[1]
	}
	share := func(beyond int, pixels float32) float32 {
		return min(max((float32(beyond)+pixels*v.ui.view.Scale-used)/high, 0), 0.39)
	}
	return share(drawn.Min.Y, above), share(int(high)-drawn.Max.Y, below)
}

// panelArea returns where panels of the overlay lie, in pixels of the window: in a wide window left of the buttons for
// fingers. An empty rectangle is the whole window.
func (v *View) panelArea() image.Rectangle {
	if v.ui.Device != render.Touch || v.ui.tall() {
		return image.Rectangle{}
	}
	lo, hi := v.ui.safe()
	at, r := render.TouchRewind.Circle(lo, hi) // the leftmost
	return image.Rect(0, 0, int(v.ui.screen.Apply(at.Sub(vec{r, r}))[0]), 2*v.port.Y+v.port.H)
}

// shipArea returns where the ship is while the camera looks ahead and the ship is beside panels, in pixels of the window.
func (v *View) shipArea() image.Rectangle {
	const aside = lookAhead + beaconLeast + beaconCrowd + 2 // its shadow
	r := v.port.Drawn()
	middle, d := r.Min.Add(r.Max).Div(2), int(aside*v.port.Scale)
	middle.X += int(v.aside * v.port.Scale)
	return image.Rect(middle.X-d, middle.Y-d, middle.X+d, middle.Y+d)
}

// avoidArea returns the place that panels leave to the ship, in pixels of the window. On an upright screen the ship is
// there. Otherwise it is as far aside as the ship goes.
func (v *View) avoidArea() image.Rectangle {
	if v.ui.tall() {
		return v.shipArea()
	}
	r, k := v.port.Drawn(), v.port.Scale
	middle, d := r.Min.Add(r.Max).Div(2), int((lookAhead+beaconLeast+beaconCrowd+2)*k)
	middle.X += int(asideMost * k)
	return image.Rect(middle.X-d, middle.Y-d, middle.X+d, middle.Y+d)
}

// asideMost is how far the ship may be from the middle, in units of the world. Farther aside, the view would show
// places whose enemies are not among those of Game.EachSeen.
const asideMost = 140

// besidePanels returns how far right of the middle the ship is in front of no panel, in units of the world. It is 0 on an
// upright screen, where panels lie above and below the ship, and if no place is free.
func (v *View) besidePanels() float32 {
	if v.Overlay == nil || v.ui.tall() {
		return 0
	}
	const step, ship = 4, beaconLeast + beaconCrowd
	r := v.port.Drawn()
	k, middle := v.port.Scale, r.Min.Add(r.Max).Div(2)
	d := (lookAhead + ship) * k
	for a := float32(0); a <= asideMost; a += step {
		for _, a := range [2]float32{a, -a} {
			if !v.Overlay.Covers(float32(middle.X)+a*k-d, float32(middle.Y)-d, 2*d, 2*d) {
				return a
			}
		}
	}
	return 0
}

// A warden is where the nearest one was in the last frame, if one was drawn.
type warden struct {
	at    vec
	drawn bool
}

func (w *warden) note(e *game.Seen, ship vec) {
	if e.Kind == realm.Warden && (!w.drawn || engine.LengthSquared(e.P.Sub(ship)) < engine.LengthSquared(w.at.Sub(ship))) {
		*w = warden{e.P, true}
	}
}

// goalAt returns what the arrow points at: the next goal or, once the warden has left the heart, the warden.
func (v *View) goalAt() vec {
	g := v.s.Game
	if v.warden.drawn && g.Goal == realm.Heart && g.Phase != game.Opened && g.Phase != game.Leaving {
		return v.warden.at
	}
	return g.GoalAt()
}

// compass draws an arrow on an ellipse around the ship, towards the next goal, while that is out of sight. At the
// screen's edge it would lie under text. The arrow is closer to the ship if something else is there.
func (v *View) compass() {
	g := v.s.Game
	if !g.Player.Alive || g.Phase == game.Leaving {
		return
	}
	goal := v.goalAt()
	if v.onScreen(goal) {
		return
	}
	to := v.ui.FromScreen(v.cam.ToScreen(goal))
	aside := v.aside * v.ui.screen.Scale / v.ui.view.Scale
	wide, high := min(196, v.ui.W/2-44-max(aside, -aside)), min(max(118, v.ui.H*0.26), 196)
	middle := vec{v.ui.W/2 + aside, v.ui.H / 2}
	dir := to.Sub(middle).Normalize()
	place := func(k float32) vec { return middle.Add(vec{k * wide * dir[0], k * high * dir[1]}) }
	k := float32(1)
	for ; !v.pointable(place(k)); k -= 0.05 {
		if k < 0.25 { // panels leave it no place
			return
		}
	}
	at := place(k)
	c := v.ours() // not the light of the realm, which elites and shields have
	if !v.comfort.calm {
		c = c.Fade(0.85 + 0.15*engine.Sin(v.time*5))
	}
	v.chevron(at, dir, 1.6, night.Fade(0.6)) // a rim, to distinguish it from a horde as bright
	v.chevron(at, dir, 0, c)
	v.pointed(at, dir)
}

// unread reports whether a rectangle lies over no hint, large letters or notice of this frame, and below no panel.
func (v *View) unread(x, y, w, h float32) bool {
	for _, b := range [...]shell.Box{v.said, v.heading, v.notices} {
		if x < b.X+b.W && x+w > b.X && y < b.Y+b.H && y+h > b.Y {
			return false
		}
	}
	return !v.hidden(x, y, w, h)
}

// pointable reports whether the arrow, with its middle there, lies over nothing of the HUD and below no panel.
func (v *View) pointable(p vec) bool {
	const r = 12 // of the arrow with its rim
	lo, hi := p.Sub(vec{r, r}), p.Add(vec{r, r})
	at, foot := v.safe(), float32(gaugeHigh)
	if v.ui.tall() {
		foot += gaugeRow
	}
	x, y, drawn := v.mapAt()
	onMap := drawn && lo[0] < x+mapSide && hi[0] > x && lo[1] < y+mapSide && hi[1] > y
	return lo[1] > at.lo[1]-4+progressHigh && hi[1] < at.hi[1]-foot && !onMap && v.unread(lo[0], lo[1], 2*r, 2*r)
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
	if !g.Offered || !g.Player.Alive || v.frozen { // a frozen game takes none, and the overlay needs the space
		return
	}
	const wide, high, gap = float32(148), float32(34), float32(4) // three fit side by side on the smallest canvas
	for i, k := range g.Offer {
		x, y := v.ui.W/2-wide*3/2-gap+float32(i)*(wide+gap), v.reach.hi[1]-34-high
		if v.ui.tall() {
			x, y = (v.ui.W-wide)/2, v.reach.hi[1]-54-(high+gap)*float32(len(g.Offer)-i)
		}
		q.Rect(x, y, wide, high, night) // the horde would be as bright as the text
		q.Border(x, y, wide, high, 1, v.pal[3])
		v.text = append(append(render.AppendInt(v.text[:0], int64(i+1), 0), ' '), game.GiftNames[k]...)
		q.TextBytes(v.font, x+6, y+4, 1, v.pal[4], v.text)
		q.Text(v.font, x+6, y+18, 1, dim, g.GiftText(k)[0])
	}
}

// announce writes the phase of the game in large letters, beside the map or, on a high canvas, below it.
func (v *View) announce() {
	g := v.s.Game
	text, scale, high, c := g.Title(), float32(3), float32(49), v.pal[4]
	switch g.Phase {
	case game.Announce:
		c = c.Fade(fadeInOut(g.PhaseTime, 0.6))
	case game.Opened:
		text, scale, high, c = "THE PORTAL IS OPEN", 2, 2*render.GlyphH, c.Fade(0.6+0.4*engine.Sin(v.time*5))
	default:
		return
	}
	top := float32(92)
	if v.ui.tall() {
		top = v.belowMap()
	}
	const least = 160 // of the width beside the map
	middle, y, wide := v.headline(top, high)
	if x, at, drawn := v.mapAt(); drawn && y < at+mapSide && y+high > at {
		wide = min(wide, max(least, 2*(x-middle)))
	}
	scale = large(text, scale, wide)
	v.quads.TextCentre(v.font, middle, y, scale, c, text)
	w := render.Width(text, scale)
	if g.Phase == game.Announce {
		k := fadeInOut(g.PhaseTime, 0.6)
		v.quads.Rect(middle-90*k, y+render.GlyphH*scale, 180*k, 1, v.pal[3].Fade(k))
		w = max(w, 180)
	}
	v.heading = shell.Box{X: middle - w/2, Y: y, W: w, H: high}
}

// banner fades the picture when a realm begins or ends.
func (v *View) banner() {
	g, q := v.s.Game, &v.quads
	switch {
	case g.Phase == game.Leaving:
		v.reach.fill(q, v.pal[0].Fade(min(1, g.PhaseTime*g.PhaseTime)))
	case g.Phase == game.Over && v.Menu == nil: // else the shell has a screen for it
		v.over()
	}
	if v.alive < 0.5 {
		v.reach.fill(q, v.pal[0].Fade(1-v.alive*2))
	}
}

// headline returns the middle, the upper edge and the width of the place for large letters: at y, or where panels leave a
// height. If they leave none, they lie over the letters.
func (v *View) headline(y, high float32) (middle, top, wide float32) {
	f := v.free()
	if f.H < high {
		return v.ui.W / 2, v.below(y), v.ui.W
	}
	return f.X + f.W/2, min(max(y, f.Y+8), f.Y+f.H-high), f.W
}

// below moves what would begin at y under the overlay, as far as the game-over table then
// still fits.
func (v *View) below(y float32) float32 {
	return max(y, min(v.covered+8, 200))
}

// large returns the scale of a line: the desired one, or the largest that fits into a width.
func large(s string, scale, width float32) float32 {
	return min(scale, (width-16)/render.Width(s, 1))
}

func fadeInOut(t, length float32) float32 {
	return max(0, min(1, min(t*6, (length+0.15-t)*6)))
}

func (v *View) over() {
	g, q := v.s.Game, &v.quads
	v.reach.fill(q, render.Color{A: min(0.6, g.PhaseTime)})
	top := v.below(96)
	q.TextCentre(v.font, v.ui.W/2, top, 4, v.pal[3], "COOLED DOWN")
	line := func(y float32, label string, n int64) {
		q.TextRight(v.font, v.ui.W/2-6, y, 1, dim, label)
		v.text = render.AppendInt(v.text[:0], n, 0)
		q.TextBytes(v.font, v.ui.W/2+6, y, 1, v.pal[4], v.text)
	}
	line(top+70, "SCORE", g.Score)
	line(top+86, "SECONDS", int64(g.Played/60))
	line(top+102, "MOST PARTICLES ALIVE", int64(g.Best))
	var snap tiers.Snapshot
	v.s.Mem.Snapshot(&snap)
	line(top+118, "COLLECTIONS IN PLAY", int64(snap.Go.InPlay))
	q.TextCentre(v.font, v.ui.W/2, top+144, 1, white, "R STARTS AGAIN")
}

// loading shows the way to the next realm: its name, what is loading, and how far.
func (v *View) loading() {
	q := &v.quads
	base := v.pal[0]
	base.A = 1
	v.reach.fill(q, base)
	m := v.s.Flow.Level()
	if v.titled() { // two names over each other are none
		v.backdrop()
		return
	}
	scale, files := float32(3), 3
	high := func() float32 { return render.GlyphH*scale + 16 + 14*float32(files) }
	if v.free().H < high() {
		scale, files = 1, 0
	}
	middle, y, wide := v.headline(v.ui.H*0.4-4, high())
	bar := min(240, wide-16)
	if m != nil {
		q.TextCentre(v.font, middle, y, large(m.Title, scale, wide), white, m.Title)
	}
	y += render.GlyphH*scale + 2
	q.Rect(middle-bar/2, y, bar, 3, render.Color{R: 0.15, G: 0.13, B: 0.13, A: 1})
	q.Rect(middle-bar/2, y, bar*v.s.Flow.Progress().Fraction(), 3, render.RGB(0xffc246))
	v.names = v.s.Stream.AppendLoading(v.names[:0])
	y += 14
	for _, n := range v.names[:min(len(v.names), files)] {
		if m != nil && m.AssetOf(n) != "" {
			n = m.AssetOf(n)
		}
		q.TextCentre(v.font, middle, y, 1, dim, n)
		y += 14
	}
}
