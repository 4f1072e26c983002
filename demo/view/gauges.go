package view

import (
	"math"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// plateDark is how dark a plate is. The quietest text has a contrast of at least 4.5 over a white horde. At 0.74 it had
// 3.9.
const plateDark = 0.88

// plate is the background of a part of the HUD.
func (v *View) plate(x, y, w, h float32) {
	v.quads.Rect(x, y, w, h, night.Fade(plateDark))
	v.quads.Border(x, y, w, h, 1, dim.Fade(0.16))
}

// bar draws a share of a length in a frame, so that an empty bar is visible too.
func (v *View) bar(x, y, w, h, share float32, c render.Color) {
	v.quads.Rect(x-1, y-1, w+2, h+2, dim.Fade(0.45))
	v.quads.Rect(x, y, w, h, night)
	v.quads.Rect(x, y, w*min(max(share, 0), 1), h, c)
}

// scoreSize writes the score to v.text, and returns the scale of its letters and the width of its plate. On a narrow
// screen a long score is smaller: it leaves the realm's name free.
func (v *View) scoreSize() (scale, wide float32) {
	v.text = group(v.text[:0], v.s.Game.Score)
	letters := float32(len(v.text)) * render.GlyphW
	at := v.safe()
	scale = min(2, (at.hi[0]-at.lo[0]-v.progressWide()-plateGap-8)/letters)
	return scale, max(scale*letters, 60) + 8
}

// scores draws the score and its multiplier at their upper left corner.
func (v *View) scores(at vec) {
	g, q := v.s.Game, &v.quads
	scale, wide := v.scoreSize()
	high := float32(30)
	if g.Multiplier > 1 {
		high = 46
	}
	v.plate(at[0]-4, at[1]-4, wide, high)
	q.TextBytes(v.font, at[0], at[1]+11-render.GlyphH*scale/2, scale, v.pal[4], v.text)
	if g.Multiplier > 1 {
		v.text = append(render.AppendInt(append(v.text[:0], "x"...), int64(g.Multiplier), 0), " UNHURT"...)
		q.TextBytes(v.font, at[0], at[1]+24, 1, v.pal[3], v.text)
	}
}

// hullGauge draws the hull at its lower left corner: a ship, and a mark for each point.
func (v *View) hullGauge(at vec) {
	p, q, y := &v.s.Game.Player, &v.quads, at[1]-8
	v.plate(at[0]-4, y-9, 26+11*float32(p.Most), gaugeHigh)
	q.Sprite(v.region(v.ids.player, v.atlas.Soft()), at[0]+6, y, 15, 15, -math.Pi/2, white.Mix(v.ours(), 0.3))
	for i := range p.Most {
		x, c := at[0]+18+float32(i)*11, v.ours()
		switch {
		case i >= p.Hull:
			c = dim.Fade(0.18)
		case p.Hull <= hullLow:
			c = white
		}
		q.Rect(x, y-4, 9, 8, c)
	}
}

const (
	progressLeast = 106 // from the word HEAT to the end of its bar
	progressHigh  = 50  // of the realm's name, the seals and the heat
	plateGap      = 4   // between two plates at the upper edge
)

// progressWide returns the width of the realm's name, the seals and the heat.
func (v *View) progressWide() float32 {
	return max(render.Width(v.s.Game.Title(), 1), progressLeast)
}

// progress draws, at its upper right corner, the realm's name, the seals and the heat.
func (v *View) progress(at vec) {
	g, q := v.s.Game, &v.quads
	const wide, left = 60, progressLeast
	v.plate(at[0]-v.progressWide()-4, at[1]-4, v.progressWide()+8, progressHigh)
	q.TextRight(v.font, at[0], at[1]-4, 1, dim.Fade(0.9), g.Title())
	q.Text(v.font, at[0]-left, at[1]+12, 1, dim, "SEALS")
	for i := range g.Seals {
		s := &g.Seals[i]
		x, y := at[0]-6-float32(i)*14, at[1]+20
		c := v.pal[3]
		if s.Broken {
			c = dim.Fade(0.3)
		}
		q.Ring(x, y, 5, 1.5, 0, 6, c)
		if !s.Broken {
			k := float32(s.HP) / float32(g.SealMost())
			q.Rect(x-2, y+2-4*k, 4, 4*k, c.Mix(white, s.Flash))
		}
	}
	q.Text(v.font, at[0]-left, at[1]+27, 1, dim, "HEAT")
	v.flame(at[0]-wide-11, at[1]+36)
	v.bar(at[0]-wide-1, at[1]+33, wide, 5, g.Heat/game.HeatMost, v.heatColor(g.Heat/game.HeatMost))
}

// heatColor returns the color of a share of the greatest heat: from the third color of the palette through the fourth to
// the fifth. Half of the third and half of the fifth would be grey in some realms.
func (v *View) heatColor(share float32) render.Color {
	if share < 0.5 {
		return v.pal[2].Mix(v.pal[3], 2*share)
	}
	return v.pal[3].Mix(v.pal[4], 2*share-1)
}

// flame is the sign of the heat.
func (v *View) flame(x, y float32) {
	v.quads.Tri(x-3.5, y+1, x, y-7, x+3.5, y+1, v.pal[2])
	v.quads.Tri(x-3.5, y+1, x+3.5, y+1, x, y+4.5, v.pal[2])
	v.quads.Tri(x-1.5, y+2, x, y-2.5, x+1.5, y+2, v.pal[4])
}

// emberGauge draws, with its lower left corner and its width, how many embers there are for the next gift.
func (v *View) emberGauge(at vec, wide float32) {
	x, y, long := at[0]+16, at[1]-8, wide-54
	v.plate(x-20, y-9, wide, gaugeHigh)
	v.quads.Sprite(v.region(v.ids.pickup[game.PickupScore], v.atlas.Soft()), x-10, y, 12, 12, 0, v.ours().Mix(white, 0.4))
	v.bar(x, y-2.5, long, 5, v.s.Game.Bar(), v.ours())
	v.quads.Text(v.font, x+long+6, y-8, 1, dim, "GIFT")
}

// bossAt returns the middle of the upper edge of the warden's gauge, and its width: between the score and the seals, or
// below the map.
func (v *View) bossAt(at reach) (middle vec, wide float32) {
	if v.ui.tall() {
		return vec{(at.lo[0] + at.hi[0]) / 2, v.belowMap()}, min(bossWide, at.hi[0]-at.lo[0])
	}
	_, score := v.scoreSize()
	left, right := at.lo[0]-4+score+plateGap, at.hi[0]-v.progressWide()-4-plateGap
	wide = min(bossWide, right-left)
	return vec{max(left+wide/2, min((at.lo[0]+at.hi[0])/2, right-wide/2)), at.lo[1]}, wide
}

const bossWide = 252 // at most

// bossGauge draws what is left of the warden.
func (v *View) bossGauge(at vec, wide, share float32) {
	v.plate(at[0]-wide/2, at[1]-4, wide, 28)
	v.bar(at[0]-wide/2+6, at[1]+2, wide-12, 5, share, v.pal[3])
	v.quads.TextCentre(v.font, at[0], at[1]+8, 1, dim, "WARDEN")
}

// memoryGauge draws, at its lower right corner, the pools of the last four seconds, which grow with every spark and
// shrink as it ends. The frame arena hardly changes. What was in use all the time is left out, or no change would be
// visible. The figure is the most of these seconds.
func (v *View) memoryGauge(at vec) {
	var h [tiers.HistoryLen]float32
	v.s.Mem.Inspect().History(tiers.Pools, &h)
	const n, step, high = 30, 2, 11
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
	v.text = render.AppendBytes(append(v.text[:0], "POOLS "...), uint64(top/1.02))
	top = max(top, low*1.15) // what is almost constant looks constant
	q, y := &v.quads, at[1]-8
	wide := float32(len(v.text))*render.GlyphW + 6
	v.plate(at[0]-n*step-wide-4, y-9, n*step+wide+8, gaugeHigh)
	q.TextBytes(v.font, at[0]-n*step-wide, y-8, 1, dim, v.text)
	for i, used := range most {
		k := max(0, (used-low)/(top-low))
		q.Rect(at[0]-n*step+float32(i)*step, y+5-high*k, step-0.5, high*k, dim.Fade(0.35+0.4*float32(i)/n))
	}
}
