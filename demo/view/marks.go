package view

import (
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/render"
)

// frost is what is cold in every realm.
var frost = render.Color{R: 0.5, G: 0.8, B: 1, A: 1}

// marks draws what sticks to an enemy: shards that glow out, dents, flames, ice, cracks in its shield.
func (v *View) marks(e *game.Seen, size float32) {
	k := size / 2 / 64
	for i, m := range v.s.Game.Marks(e) {
		x, y := e.P[0]+float32(m.X)*k, e.P[1]+float32(m.Y)*k
		left := min(1, float32(m.Left)/float32(game.MarkTime[m.Kind]))
		switch m.Kind {
		case game.MarkShard: // white hot, then red, then gone
			v.quads.Sprite(v.atlas.Soft(), x, y, 7, 7, 0, v.pal[2].Mix(v.pal[4], left).Light(0.9*left))
		case game.MarkDent:
			v.quads.Sprite(v.atlas.Soft(), x, y, 5, 5, 0, v.pal[4].Light(0.8*left))
		case game.MarkFlame:
			lick := 2 + 2*engine.Sin(v.time*17+float32(i)*2.1)
			v.quads.Sprite(v.atlas.Soft(), x, y-lick, 9, 11+lick, 0, v.pal[3].Light(0.9*min(1, 2*left)))
		case game.MarkFrost:
			v.quads.Ring(x, y, 2.5, 1, float32(i), 6, frost.Light(0.9*left))
		case game.MarkArc:
			v.quads.Ring(x, y, size*0.5*(1.3-0.3*left), 1, v.time*9, 5, white.Light(left))
		case game.MarkCrack:
			dx, dy := float32(m.X)/16, float32(m.Y)/16
			v.quads.Line(x-dy, y+dx, x+dy, y-dx, 1, v.pal[4].Light(left))
		}
	}
}
