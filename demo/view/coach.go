package view

import (
	"github.com/strata-go/strata/demo/coach"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/render"
)

// A teacher is the coach of a player's first run.
type teacher struct {
	allowed bool // see Teach
	on      bool // the player wants hints
	played  uint64
	coach   coach.Coach
	line    coach.Line
}

// Teach allows or forbids hints. Allowed hints are shown while the player plays, if they are on in the settings.
func (v *View) Teach(on bool) { v.teacher.allowed = on }

// teach asks the coach for the line of this tick. Hints begin again with a run, and when they are switched on.
func (v *View) teach() {
	t, g := &v.teacher, v.s.Game
	on := t.allowed && v.Menu != nil && !v.s.Attract && v.Menu.Source.Settings().Hints
	if !on || !t.on || g.Played < t.played {
		t.coach, t.line = coach.Coach{}, coach.Silent
	}
	t.on, t.played = on, g.Played
	screen := shell.Playing
	if on {
		screen = v.Menu.Source.Screen()
	}
	if !on || screen != shell.Playing && screen != shell.Gifts {
		return
	}
	gifts := 0
	for _, n := range g.Gifts {
		gifts += int(n)
	}
	_, warden := g.Boss()
	t.line = t.coach.Step(coach.Facts{
		X: g.Player.P[0], Y: g.Player.P[1], Dashing: g.Player.Dash > 0, Hull: g.Player.Hull, Kills: g.Kills,
		Embers: g.Embers, Gifts: gifts, Offered: screen == shell.Gifts, Seals: realm.Seals, Broken: g.Broken,
		InSight: g.Goal < realm.Heart && v.onScreen(g.GoalAt()), Warden: warden, Charges: v.s.Past.Charges(), Rewinds: v.s.Past.Used(),
		Opened: g.Phase == game.Opened || g.Phase == game.Leaving,
	})
}

// onScreen reports whether a place of the world is drawn, and not at the very edge.
func (v *View) onScreen(p vec) bool {
	at, lo, hi := v.ui.FromScreen(v.cam.ToScreen(p)), v.reach.lo, v.reach.hi
	return at[0] > lo[0]+20 && at[0] < hi[0]-20 && at[1] > lo[1]+20 && at[1] < hi[1]-20
}

// The size of a hint, how many rows it takes at most, and how much wider its plate is at each side.
const (
	hintScale = 1.5
	hintRows  = 4
	hintSide  = 12
)

// hint writes the coach's line near the foot, where the ship is not.
func (v *View) hint() {
	t := &v.teacher
	if t.line == coach.Silent || v.chosen() || v.peeks() || !v.s.Game.Player.Alive {
		return
	}
	v.Menu.hint()
	v.subtitle(v.Menu.hints.coach[t.line])
}

// subtitle writes a line on a dark plate above the gauges at the foot, beside panels that lie there. It breaks the line
// into rows of whole words, of similar length. If panels leave no place it writes nothing.
func (v *View) subtitle(s string) {
	const step, least = render.GlyphH * hintScale, 150
	foot, width := v.hintArea()
	middle := v.ui.W / 2
	if v.hidden(middle-width/2, foot-2*step, width, 2*step) {
		x, w := widest(middle-width/2, middle+width/2, func(x float32) bool { return v.hidden(x, foot-hintRows*step, freeStep, hintRows*step) })
		if w < least {
			return
		}
		middle, width = x+w/2, w-2*hintSide-8
	}
	most := int(width / (render.GlyphW * hintScale))
	all := rows(s, float32(most)*render.GlyphW)
	for most > 1 && rows(s, float32(most-1)*render.GlyphW) == all {
		most--
	}
	var lines [hintRows]string
	n, wide := 0, float32(0)
	for ; s != "" && n < len(lines); n++ {
		lines[n], s = split(s, most)
		wide = max(wide, render.Width(lines[n], hintScale))
	}
	top := foot - float32(n)*step
	v.said = shell.Box{X: middle - wide/2 - hintSide, Y: top - 4, W: wide + 2*hintSide, H: float32(n)*step + 8}
	v.quads.Rect(v.said.X, v.said.Y, v.said.W, v.said.H, night.Fade(0.72))
	v.quads.Rect(v.said.X, v.said.Y, 2, v.said.H, v.pal[3])
	for i, s := range lines[:n] {
		v.quads.TextCentre(v.font, middle, top+float32(i)*step, hintScale, white, s)
	}
}

// hintArea returns where the last row of a hint ends, and how wide its rows may be. A hint leaves the gauges and the
// sticks of thumbs free: it is between the sticks or, on a high canvas, above them.
func (v *View) hintArea() (foot, width float32) {
	above, side := float32(52), float32(20)
	switch {
	case v.ui.Device != render.Touch:
	case v.ui.tall():
		above = v.sticksHigh() + 8
	default:
		side = (stickRight+render.ThumbTravel)*v.port.Scale/v.ui.view.Scale + hintSide + 4
	}
	return v.ui.H - above, v.ui.W - 2*side
}

// sticksHigh returns how high above the lower edge the resting sticks reach, in pixels of the canvas.
func (v *View) sticksHigh() float32 {
	return (stickAbove + render.ThumbTravel) * v.port.Scale / v.ui.view.Scale
}

// pointed names what the arrow points at, for as long as the player is taught and time does not run backwards: the name
// would lie over what rewinding writes.
func (v *View) pointed(at, dir vec) {
	g := v.s.Game
	if !v.teacher.on || v.back.share >= rewindShown {
		return
	}
	name := "SEAL"
	switch {
	case g.Phase == game.Opened:
		name = "PORTAL"
	case g.Goal == realm.Heart:
		name = "WARDEN"
	}
	w := render.Width(name, 1)
	x, y := at[0]-dir[0]*(w/2+14), at[1]-dir[1]*20
	if v.unread(x-w/2-3, y-render.GlyphH/2, w+6, render.GlyphH) {
		v.quads.Rect(x-w/2-3, y-7, w+6, 14, night.Fade(plateDark))
		v.quads.TextCentre(v.font, x, y-8, 1, v.ours(), name)
	}
}
