package game

import "github.com/strata-go/strata/demo/realm"

func init() {
	register(realm.Drifter, breed{
		text: "follows you", look: Look{From: 2, To: 2, Glow: 0.32, Wide: 2.2, Swell: 0.07, Beat: 3.5},
		radius: 9, size: 26, hp: 2, score: 50, speed: 62, damage: 1, worth: 1,
		move: (*walk).drift, trail: 10, guards: 1, drops: 0.03, core: 3, glare: 1, fear: 2.2, reach: 150, kick: 0.05, shake: 0.8,
		spawns: []spawn{
			{Heat: 0, Weight: 10, Least: 2, Most: 5},
			{Heat: 2, Weight: 3, Least: 6, Most: 12, Elite: 0.06},
			{Heat: 4, Weight: 2, Least: 4, Most: 8, Shield: 0.5},
			{Heat: 5, Weight: 1, Least: 10, Most: 20, Elite: 0.2, Shield: 0.1},
		},
	})
}

// drift comes in slow curves.
func (w *walk) drift(p *Position, v *Velocity, e *Enemy) {
	if w.turn(e)%w.every != 0 {
		return
	}
	dir, idle := w.home(p.P, e)
	if !idle {
		dir = w.toPlayer(p.P, e)
	}
	steer(&v.V, w.sway(dir, e, 36), w.g.horde.breeds[e.Kind].speed, mul(float32(w.every), 1.6))
	if (w.ticks+uint64(e.Phase))%4 == 0 { // a quarter of them each tick: nobody sees it
		e.Angle = turnTo(e.Angle, v.V, 12)
	}
}
