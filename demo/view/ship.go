package view

import (
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/render"
)

// oursClear stands for game.OursIn in the palette for colour-blind players, which has a blue horde.
var oursClear = render.RGB(0xff86c4)

// ours returns the colour of the player's side.
func (v *View) ours() render.Color {
	switch m := v.s.Game.Manifest; {
	case v.comfort.clear:
		return oursClear
	case m != nil:
		return colorOf(game.OursIn(m.Name))
	}
	return colorOf(game.OursIn("")) // before the first realm
}

func colorOf(c realm.Color) render.Color {
	rgba := c.Vec4()
	return render.Color{R: rgba[0], G: rgba[1], B: rgba[2], A: 1}
}

// shade darkens the ground around the ship, below all that is on it.
func (v *View) shade() {
	if p := &v.s.Game.Player; p.Alive && !v.titled() {
		v.quads.Sprite(v.atlas.Soft(), p.P[0], p.P[1], shadeSize, shadeSize, 0, night.Fade(0.5))
	}
}

const (
	shipSize    = 29 // of its picture
	beaconLeast = 17 // radius of the rim in an empty place
	beaconCrowd = 8  // and how much the densest crowd adds
	beaconAlarm = 4  // and a blow
	crowdReach  = 90 // distance of an enemy that counts as near
	crowdFull   = 24 // enemies near the ship that are the densest crowd
	hullTime    = 150
	hullLow     = 2
	shadeSize   = 420
	beatRate    = 14 // of a hurt ship's rim, in radians a second
)

// A beacon marks the ship: a disc that darkens what lies below, and a bright rim. Both grow with the crowd around the
// ship, and when the ship is hurt. The hull lies around the rim after each change, and while it is low.
type beacon struct {
	near  int     // enemies close to the ship, as last drawn
	crowd float32 // follows near, from 0 to 1
	alarm float32 // 1 at a blow, then fades
	hull  int
	shown int // ticks for which the hull is displayed
}

// note advances the beacon by a tick.
func (b *beacon) note(p *game.Player) {
	b.crowd += (min(1, float32(b.near)/crowdFull) - b.crowd) * 0.07
	b.alarm = max(0, b.alarm-1.0/90)
	b.shown = max(0, b.shown-1)
	if b.hull > 0 && p.Hull != b.hull {
		if b.shown = hullTime; p.Hull < b.hull {
			b.alarm = 1
		}
	}
	if b.hull = p.Hull; p.Hull <= hullLow && p.Alive {
		b.shown, b.alarm = hullTime, max(b.alarm, 0.4)
	}
}

func (b *beacon) radius() float32 { return beaconLeast + beaconCrowd*b.crowd + beaconAlarm*b.alarm }

// ship draws the beacon and the ship. They are part of the batch of signs: no number of particles hides them or takes
// their space, and bloom does not wash them out. A ship that was hurt is more visible than any other.
func (v *View) ship(to render.Viewport) {
	g, q := v.s.Game, &v.quads
	p, b := &g.Player, &v.beacon
	if !p.Alive || g.Phase == game.Leaving && g.PhaseTime > 0.15 {
		return
	}
	old := q.SetView(v.cam.View(to))
	defer q.SetView(old)
	if v.titled() { // text lies over it
		v.hull(p.P, p.Aim, 0.5)
		return
	}
	at, c, r := p.P.Sub(p.Aim.Mul(p.Recoil*2)), v.ours(), b.radius()
	beat := float32(1)
	if !v.comfort.calm {
		beat = 0.5 + 0.5*engine.Sin(v.time*beatRate)
	}
	rim := c.Mix(white, 0.25+b.alarm*(0.15+0.15*beat))
	v.craft(at, p.Aim, r, max(b.crowd, b.alarm), 2.2+1.2*b.alarm, rim)
	if p.Safe > 0 && p.Dash <= 0 { // nothing can hurt it
		q.Ring(at[0], at[1], r+4+3*beat, 1.4, 0, 0, rim.Fade(0.75))
	}
	v.clock(at, r)
	if b.shown > 0 {
		v.pips(at, r+6, beat)
	}
	if v.pointing { // the reticle lies at the mouse
		return
	}
	if aim := at.Add(p.Aim.Mul(64)); v.atlas.Loaded(v.ids.reticle) {
		q.Sprite(v.atlas.Lookup(v.ids.reticle), aim[0], aim[1], 12, 12, 0, c.Mix(white, 0.5).Fade(0.7))
	}
}

// craft draws a ship in a rim of radius r. The disc below it is darker the denser the crowd is.
func (v *View) craft(at, aim vec, r, crowd, thick float32, rim render.Color) {
	q, c := &v.quads, v.ours()
	q.Sprite(v.atlas.Soft(), at[0], at[1], 5*r, 5*r, 0, c.Light(0.4+0.4*v.beacon.alarm))
	q.Ring(at[0], at[1], r/2, r+3, 0, 0, night.Fade(0.45+0.2*crowd))
	q.Ring(at[0], at[1], r, 5, 0, 0, night.Fade(0.8))
	q.Ring(at[0], at[1], r, thick, 0, 0, rim)
	v.hull(at, aim, 1)
}

// hull draws the ship itself.
func (v *View) hull(at, aim vec, light float32) {
	c := v.ours()
	v.quads.Turned(v.region(v.ids.player, v.atlas.Placeholder()), at[0], at[1], shipSize, shipSize, aim[0], aim[1], white.Mix(c, 0.2).Fade(light))
	if v.atlas.Loaded(v.ids.playerCore) {
		v.quads.Turned(v.atlas.Lookup(v.ids.playerCore), at[0], at[1], shipSize, shipSize, aim[0], aim[1], c.Light(0.9*light))
	}
}

// pips draws the hull below the ship. The last points blink.
func (v *View) pips(at vec, r, beat float32) {
	p := &v.s.Game.Player
	full := v.ours().Mix(white, 0.35)
	if p.Hull <= hullLow {
		full = white.Fade(0.6 + 0.4*beat)
	}
	v.arc(at, r, p.Most, p.Hull, full)
}

// arc draws so many marks on an arc below a point, and the last of them as lost.
func (v *View) arc(at vec, r float32, most, left int, full render.Color) {
	const wide, gap = 5.5, 1.8
	turn := (wide + gap) / r
	for i := range most {
		a := 1.5707963 - (float32(i)-float32(most-1)/2)*turn
		along, out := vec{engine.Sin(a), -engine.Cos(a)}.Mul(wide/2), vec{engine.Cos(a), engine.Sin(a)}.Mul(r)
		from, to := at.Add(out).Sub(along), at.Add(out).Add(along)
		c := full
		if i >= left {
			c = dim.Shade(0.5)
		}
		v.quads.Line(from[0], from[1], to[0], to[1], 6.5, night.Fade(0.85))
		v.quads.Line(from[0], from[1], to[0], to[1], 3.6, c)
	}
}
