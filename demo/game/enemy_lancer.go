package game

import (
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

func init() {
	register(realm.Lancer, breed{
		text: "aims, then charges", look: Look{From: 3, To: 4, Mix: 0.25, Glow: 0.3, Wide: 2},
		radius: 10, size: 31, hp: 4, score: 120, speed: 85, damage: 1, worth: 3,
		move: (*walk).lance, crowd: aims, trail: 32, keen: true, wide: true, guards: 4, drops: 0.12, core: 4, glare: 1, fear: 2.2, reach: 150,
		kick: 0.05, freeze: 1, shake: 3,
		spawns: []spawn{
			{Heat: 1, Weight: 2, Least: 1, Most: 2},
			{Heat: 3, Weight: 1, Least: 2, Most: 4, Shield: 0.3},
			{Heat: 7, Weight: 1, Least: 3, Most: 6, Elite: 0.5, Shield: 0.5},
		},
	})
}

// The states of a lancer.
const (
	lancerStalk uint8 = iota
	lancerTell
	lancerCharge
	lancerRest
)

// Tells reports whether the enemy is a lancer that is about to charge.
func (e *Enemy) Tells() bool { return e.Kind == realm.Lancer && e.State == lancerTell }

// Charges reports whether the enemy is a lancer that is charging.
func (e *Enemy) Charges() bool { return e.Kind == realm.Lancer && e.State == lancerCharge }

// lance stalks, shows where it aims, charges through, rests.
func (w *walk) lance(p *Position, v *Velocity, e *Enemy) {
	g := w.g
	to := w.player.Sub(p.P)
	switch e.State {
	case lancerStalk:
		dir, idle := w.home(p.P, e)
		if !idle {
			dir = w.toPlayer(p.P, e)
		}
		sq := engine.LengthSquared(to)
		if sq < 150*150 && !idle {
			dir = engine.Scale(dir, -1)
		}
		steer(&v.V, dir, g.horde.breeds[e.Kind].speed, 2.5)
		e.Angle = turnTo(e.Angle, to, 6)
		if e.Timer <= 0 && sq < 260*260 {
			if e.Timer = 0.2; w.r.Sees(p.P, w.player) {
				e.State, e.Timer, e.Aim = lancerTell, 0.55, unit(to)
				g.fx.aim(p.P)
			}
		}
	case lancerTell:
		v.V = engine.Scale(v.V, 0.86)
		e.Aim = unit(engine.Mix(e.Aim, unit(to), 0.06))
		e.Angle = headingOf(e.Aim)
		g.fx.tell(p.P)
		if e.Timer <= 0 {
			e.State, e.Timer = lancerCharge, 0.6
			v.V = engine.Scale(e.Aim, 470)
			g.fx.charge(p.P, v.V)
		}
	case lancerCharge:
		g.fx.streak(p.P, v.V)
		if e.Timer <= 0 {
			e.State, e.Timer = lancerRest, 0.7
		}
	case lancerRest:
		v.V = engine.Scale(v.V, 0.92)
		if e.Timer <= 0 {
			e.State, e.Timer = lancerStalk, g.rng.Range(0.5, 1.3)
		}
	}
}
