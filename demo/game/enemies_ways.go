package game

import (
	"github.com/strata-go/strata/demo/level"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

// steer turns a velocity to a direction at a speed.
func steer(v *vec, dir vec, speed, agility float32) {
	*v = engine.Mix(*v, engine.Scale(dir, speed), mul(agility, step))
}

// sway turns a direction of the table to and fro, each by its own time.
func (w *walk) sway(dir vec, e *Enemy, wide int) vec {
	n := int(w.ticks/2+uint64(e.Phase)) & 127
	if n > 63 {
		n = 127 - n
	}
	by := realm.Headings[1+(n-32)*wide/32&127]
	if n < 32 {
		by = realm.Headings[1+(32-n)*wide/32&127]
		by[1] = -by[1]
	}
	return engine.Rotate(dir, by)
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
	steer(&v.V, w.sway(dir, e, 36), w.g.breeds[e.Kind].speed, mul(float32(w.every), 1.6))
	if (w.ticks+uint64(e.Phase))%4 == 0 { // a quarter of them each tick: nobody sees it
		e.Angle = turnTo(e.Angle, v.V, 12)
	}
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
	steer(&v.V, w.sway(dir, e, 28), w.g.breeds[e.Kind].speed, mul(float32(w.every), 4))
	if (w.ticks+uint64(e.Phase))%4 == 0 {
		e.Angle = headingOf(v.V)
	}
}

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
		steer(&v.V, dir, g.breeds[e.Kind].speed, 2.5)
		e.Angle = turnTo(e.Angle, to, 6)
		if e.Timer <= 0 && sq < 260*260 {
			if e.Timer = 0.2; w.r.Sees(p.P, w.player) {
				e.State, e.Timer, e.Aim = lancerTell, 0.55, unit(to)
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

// ward closes in slowly, throws rings of orbs, and sends swarms when it is hurt.
func (w *walk) ward(p *Position, v *Velocity, e *Enemy) {
	g := w.g
	steer(&v.V, w.toPlayer(p.P, e), g.breeds[e.Kind].speed, 0.8)
	full := g.breeds[level.Warden].hp
	fury := 1 - clamp(float32(e.HP)/float32(full), 0, 1)
	e.Angle += mul(0.4+mul(fury, 1.4), step)
	if e.Timer <= 0 {
		e.Timer = 1.7 - mul(fury, 0.6)
		g.ring(p.P, 12+int(mul(fury, 8)), e.Angle)
	}
	// One swarm for each sixth of the hull that is gone; State counts them.
	if gone := uint8(mul(fury, 6)); gone > e.State {
		e.State = gone
		for range 12 {
			dir := g.rng.Circle()
			g.wishFor(wish{p: engine.MulAdd(p.P, dir, 30), v: engine.Scale(dir, 190), enemy: level.Swarm, post: postHeart})
		}
		g.fx.hatch(p.P)
		g.Shake(4)
	}
}

func (g *Game) ring(p vec, n int, from float32) {
	for i := range n {
		dir := engine.Heading(from + mul(float32(i), 6.2831855/float32(n)))
		g.wishFor(wish{p: engine.MulAdd(p, dir, 30), v: engine.Scale(dir, 105), orb: true})
	}
	g.fx.ringShot(p)
}

// headingOf returns the angle of v by the arctangent's odd polynomial: rendering and steering
// need a thousandth of a turn, and it is the same everywhere.
func headingOf(v vec) float32 {
	x, y := v[0], v[1]
	ax, ay := max(x, -x), max(y, -y)
	if ax+ay == 0 {
		return 0
	}
	t := min(ax, ay) / max(ax, ay)
	s := mul(t, t)
	a := mul(t, 0.99997726+mul(s, -0.33262347+mul(s, 0.19354346+mul(s, -0.11643287+mul(s, 0.05265332+mul(s, -0.0117212))))))
	if ay > ax {
		a = 1.5707964 - a
	}
	if x < 0 {
		a = 3.1415927 - a
	}
	if y < 0 {
		return -a
	}
	return a
}

// turnTo turns an angle towards a direction by at most rate radians a second.
func turnTo(angle float32, dir vec, rate float32) float32 {
	d := headingOf(dir) - angle
	if d > 3.1415927 {
		d -= 6.2831855
	} else if d < -3.1415927 {
		d += 6.2831855
	}
	angle += clamp(d, -mul(rate, step), mul(rate, step))
	if angle > 3.1415927 { // kept within half a turn of 0, so that d is within one
		angle -= 6.2831855
	} else if angle < -3.1415927 {
		angle += 6.2831855
	}
	return angle
}
