package game

import "github.com/strata-go/strata/demo/realm"

func init() {
	register(realm.Swarm, breed{
		text: "many, weak and fast", look: Look{From: 2, To: 1, Mix: 0.3, Glow: 0.2, Wide: 2, Swell: 0.16, Beat: 31},
		radius: 6, size: 15, hp: 1, score: 15, speed: 104, damage: 1, worth: 1,
		move: (*walk).swarm, trail: 6, drops: 0.006, core: 3, glare: 1, fear: 2.2, reach: 150, kick: 0.05, faint: true,
		spawns: []spawn{
			{Heat: 0.4, Weight: 5, Least: 6, Most: 12},
			{Heat: 3, Weight: 8, Least: 16, Most: 40},
			{Heat: 6, Weight: 6, Least: 40, Most: 90, Elite: 0.01},
		},
	})
}

// swarm comes fast, and weaves.
func (w *walk) swarm(p *Position, v *Velocity, e *Enemy) {
	if w.turn(e)%w.every != 0 {
		return
	}
	dir, idle := w.home(p.P, e)
	if !idle {
		dir = w.toPlayer(p.P, e)
	}
	steer(&v.V, w.sway(dir, e, 28), w.g.horde.breeds[e.Kind].speed, mul(float32(w.every), 4))
	if (w.ticks+uint64(e.Phase))%4 == 0 {
		e.Angle = headingOf(v.V)
	}
}
