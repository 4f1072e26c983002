package game

import (
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

// The warden comes by the seals, not by the table.
func init() {
	register(realm.Warden, breed{
		text: "guards the heart", look: Look{From: 2, To: 2, Glow: 0.4, Wide: 2.2},
		radius: 31, size: 74, hp: 300, score: 2500, speed: 34, damage: 2, worth: 40,
		move: (*walk).ward, crowd: stands, boss: true, wide: true, core: 4, glare: 0.35, fear: 6, reach: 170, kick: 0.004, freeze: 6, shake: 12,
	})
}

// ward closes in slowly, throws rings of orbs, and sends swarms when it is hurt.
func (w *walk) ward(p *Position, v *Velocity, e *Enemy) {
	g := w.g
	steer(&v.V, w.toPlayer(p.P, e), g.horde.breeds[e.Kind].speed, 0.8)
	full := g.horde.breeds[realm.Warden].hp
	fury := 1 - clamp(float32(e.HP)/float32(full), 0, 1)
	e.Angle += mul(0.4+mul(fury, 1.4), step)
	if e.Timer <= 0 {
		e.Timer = 1.7 - mul(fury, 0.6)
		ring(g, p.P, 12+int(mul(fury, 8)), e.Angle)
	}
	// One swarm for each sixth of the hull that is gone; State counts them.
	if gone := uint8(mul(fury, 6)); gone > e.State {
		e.State = gone
		for range 12 {
			dir := g.rng.Circle()
			g.cast.wish(g, wish{p: engine.MulAdd(p.P, dir, 30), v: engine.Scale(dir, 190), enemy: realm.Swarm, post: postHeart})
		}
		g.fx.hatch(p.P)
		g.Shake(4)
	}
}

func ring(g *Game, p vec, n int, from float32) {
	for i := range n {
		dir := engine.Heading(from + mul(float32(i), 6.2831855/float32(n)))
		g.cast.wish(g, wish{p: engine.MulAdd(p, dir, 30), v: engine.Scale(dir, 105), orb: true})
	}
	g.fx.ringShot(p)
}
