package view

import (
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/render"
)

// seals are rings in the ground; one that holds burns, and the heart opens when none does.
func (v *View) seals() {
	g := v.s.Game
	for i := range g.Seals {
		s := &g.Seals[i]
		if s.Broken {
			v.quads.Ring(s.P[0], s.P[1], game.SealRadius, 2, 0, 6, v.pal[1])
			continue
		}
		v.seal(s.P, float32(s.HP)/float32(g.SealMost()), s.Flash)
	}
	if at, radius := g.Ripple(); radius > 0 {
		v.quads.Ring(at[0], at[1], radius, 6, 0, 48, v.pal[4].Light(0.8))
		v.quads.Ring(at[0], at[1], radius*0.94, 14, 0, 48, v.pal[3].Light(0.35))
	}
	if at := g.Realm.Place(realm.Heart); g.Broken == realm.Seals && !g.Woken {
		v.quads.Ring(at[0], at[1], 48, 3, v.time, 6, v.pal[4])
	}
}

// seal draws a seal that holds: the inner ring is what is left of it.
func (v *View) seal(p vec, left, flash float32) {
	v.quads.Sprite(v.atlas.Soft(), p[0], p[1], 110, 110, 0, v.pal[2].Light(0.5+0.4*flash))
	v.quads.Ring(p[0], p[1], game.SealRadius, 4, v.time*0.6, 6, v.pal[3].Mix(white, flash))
	v.quads.Ring(p[0], p[1], game.SealRadius*0.6*left, 3, -v.time, 6, v.pal[4])
}

func (v *View) embers() {
	lo, hi := v.seen.lo, v.seen.hi
	gem, c := v.region(v.ids.pickup[game.PickupScore], v.atlas.Soft()), v.ours().Mix(white, 0.4)
	v.s.Game.EachEmber(func(e *game.Ember) {
		if e.P[0] >= lo[0] && e.P[1] >= lo[1] && e.P[0] <= hi[0] && e.P[1] <= hi[1] {
			v.ember(gem, c, e.P, (8+float32(min(e.Worth, 6)))*min(1, e.Life))
		}
	})
}

// ember draws a gem of the player's colour that twinkles.
func (v *View) ember(gem render.Region, c render.Color, p vec, size float32) {
	v.quads.Sprite(gem, p[0], p[1], size*(0.6+v.pulse(5, 0.15)), size, 0, c)
}

// mines lie on the ground, and so do the fires that they leave.
func (v *View) mines() {
	g := v.s.Game
	for _, f := range g.Fires() {
		k := min(1, f.Left)
		v.quads.Sprite(v.atlas.Soft(), f.P[0], f.P[1], f.Radius*2.6, f.Radius*2.6, 0, v.ours().Light(0.5*k))
	}
	for _, m := range g.Mines() {
		c := v.ours()
		if m.Wait > 0 {
			c = c.Shade(0.5)
		}
		v.mine(m.P, c)
	}
}

func (v *View) mine(p vec, c render.Color) {
	v.quads.Ring(p[0], p[1], 6, 4, v.time*3, 5, night.Fade(0.7))
	v.quads.Ring(p[0], p[1], 6, 2, v.time*3, 5, c)
}

// arms are what gifts have brought: sparks in orbit, lightning, the beam.
func (v *View) arms() {
	g, c := v.s.Game, v.ours()
	for i := range g.Sparks() {
		at := g.SparkAt(i)
		v.quads.Sprite(v.atlas.Soft(), at[0], at[1], 30, 30, 0, c.Light(0.9))
		v.quads.Sprite(v.atlas.Soft(), at[0], at[1], 12, 12, 0, white.Light(1))
	}
	for _, b := range g.Bolts() {
		if b.Life <= 0 {
			continue
		}
		ps := b.Points()
		k, bolt := b.Life/game.BoltLife, c.Mix(white, 0.5)
		for i := 0; i+1 < len(ps); i++ {
			mid := ps[i].Add(ps[i+1]).Mul(0.5).Add(vec{ps[i][1] - ps[i+1][1], ps[i+1][0] - ps[i][0]}.Mul(0.12))
			v.quads.Line(ps[i][0], ps[i][1], mid[0], mid[1], 3*k, bolt.Light(k))
			v.quads.Line(mid[0], mid[1], ps[i+1][0], ps[i+1][1], 3*k, bolt.Light(k))
		}
	}
	if g.Player.Beaming {
		a, b := g.Player.P, g.BeamTo()
		v.quads.Line(a[0], a[1], b[0], b[1], 9, c.Light(0.6))
		v.quads.Line(a[0], a[1], b[0], b[1], 3, c.Mix(white, 0.6).Light(0.9))
	}
}
