package view

import (
	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/render"
)

// props draws the props of the sectors in sight: lamps and crystals in the open, vents at walls. They lean away from
// a passing ship.
func (v *View) props() {
	lo, hi := v.seen.lo, v.seen.hi
	const size, margin = float32(ground.SectorSize), 20
	for y := max(int((lo[1]-margin)/size), 0); y <= min(int((hi[1]+margin)/size), ground.Sectors-1); y++ {
		for x := max(int((lo[0]-margin)/size), 0); x <= min(int((hi[0]+margin)/size), ground.Sectors-1); x++ {
			for _, p := range v.s.Ground.Props(ground.Sector{X: uint8(x), Y: uint8(y)}) {
				if p.P[0] < lo[0]-margin || p.P[0] > hi[0]+margin || p.P[1] < lo[1]-margin || p.P[1] > hi[1]+margin {
					continue
				}
				v.prop(p)
			}
		}
	}
}

// lean returns how far something at p is pressed aside by the ship.
func (v *View) lean(p vec) vec {
	d := p.Sub(v.s.Game.Player.P)
	sq := engine.LengthSquared(d)
	if sq > 70*70 || sq < 1 {
		return vec{}
	}
	return engine.Scale(d, 7*(1-engine.Sqrt(sq)/70)/engine.Sqrt(sq))
}

func (v *View) prop(p session.Prop) {
	x, y, t := p.P[0], p.P[1], v.time+float32(p.Phase)*0.11
	lean := v.lean(p.P)
	switch p.Kind {
	case 0: // a lamp on a stalk
		tx, ty := x+lean[0]+engine.Sin(t*0.9)*1.5, y-15+lean[1]*0.5
		v.quads.Sprite(v.atlas.Soft(), x, y+1, 14, 6, 0, render.Color{A: 0.35})
		v.quads.Line(x, y, tx, ty, 2.2, v.pal[1].Mix(v.pal[2], 0.3))
		glow := 0.55 + 0.15*engine.Sin(t*2.3)
		v.quads.Sprite(v.atlas.Soft(), tx, ty, 76, 76, 0, v.pal[2].Light(0.3*glow)) // no core: it is no enemy
	case 1: // crystals
		v.quads.Sprite(v.atlas.Soft(), x, y+2, 18, 8, 0, render.Color{A: 0.35})
		for i := range 3 {
			k := float32(i) - 1
			tx, ty := x+k*4+lean[0]*0.6, y-10+4*k*k+lean[1]*0.3
			c := v.pal[1].Mix(v.pal[2], 0.25+0.12*engine.Sin(t+k))
			v.quads.Tri(x+k*3-2.2, y+1, x+k*3+2.2, y+1, tx, ty, c)
		}
		v.quads.Sprite(v.atlas.Soft(), x, y-4, 44, 44, 0, v.pal[2].Light(0.14+0.05*engine.Sin(t*1.4)))
	default: // a vent that breathes
		k := 0.5 + 0.5*engine.Sin(t*1.7)
		v.quads.Sprite(v.atlas.Soft(), x, y, 22, 13, 0, render.Color{A: 0.5}) // no ring: seals are rings
		v.quads.Sprite(v.atlas.Soft(), x+lean[0], y-2-9*k+lean[1], 26+14*k, 26+14*k, 0, v.pal[2].Light(0.25*(1-k)))
	}
}
