package game

import (
	"github.com/strata-go/strata/demo/level"
	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
)

// A wish is a spawn asked for while a loop walks the world.
type wish struct {
	p, v  vec
	enemy level.Enemy
	orb   bool
}

// wishFor keeps a spawn for after the loop; beyond the list's room it is lost.
func (g *Game) wishFor(w wish) {
	if len(g.wishes) == cap(g.wishes) {
		g.Lost.Enemies++
		return
	}
	g.wishes = append(g.wishes, w)
}

func (g *Game) grantWishes() error {
	for _, w := range g.wishes {
		var err error
		if w.orb {
			err = g.spawnShot(w.p, w.v, Shot{Life: 4, Damage: 1, Hostile: true})
		} else {
			err = g.spawnEnemy(w.enemy, w.p, w.v)
		}
		if err != nil {
			return err
		}
	}
	g.wishes = g.wishes[:0]
	return nil
}

// spawnEnemy puts an enemy into the world. A full tier costs the enemy, and is no error.
func (g *Game) spawnEnemy(k level.Enemy, p, v vec) error {
	e := Enemy{Kind: k, HP: g.breeds[k].hp, Phase: uint16(g.rng.Uint32()), Timer: g.rng.Range(0.4, 1.4)}
	switch k {
	case level.Lancer:
		e.Ribbon = g.ribbons.take(g, p)
	case level.Drifter:
		e.Spin = g.rng.Range(-1.5, 1.5)
	}
	if _, err := g.actors.enemies.NewEntity(Position{p}, Velocity{v}, e); err != nil {
		g.ribbons.give(g.heap, e.Ribbon)
		g.Lost.Enemies++
		return tolerate(err)
	}
	g.toll[k]++
	return nil
}

// moveOmens turns announcements whose time has come into enemies.
func (g *Game) moveOmens() error {
	for h, o := range g.omens.All() {
		if o.Left -= step; o.Left > 0 {
			continue
		}
		if err := g.spawnEnemy(o.Kind, o.P, vec{}); err != nil {
			return err
		}
		g.fx.arrive(o.P, breeds[o.Kind].size)
		g.omens.Free(h)
	}
	return nil
}

func (g *Game) moveEnemies() error {
	g.grid.refresh(g)
	for self, r := range g.actors.enemyFilter.All() {
		p, v, e := r.A, r.B, r.C
		e.Flash = max(0, e.Flash-mul(step, 6))
		e.Timer -= step
		switch e.Kind {
		case level.Drifter:
			g.drift(p, v, e)
		case level.Lancer:
			g.lance(p, v, e)
		case level.Swarm:
			g.flock(self, p, v, e)
		case level.Warden:
			g.ward(p, v, e)
		}
		p.P = engine.MulAdd(p.P, v.V, step)
		b := &breeds[e.Kind]
		g.keepInside(&p.P, &v.V, b.radius, 0.7)
		if g.Player.Alive && engine.Distance(p.P, g.Player.P) < b.radius+playerRadius {
			g.hurt(b.damage, p.P)
		}
		if e.Ribbon != 0 {
			g.ribbons.push(e.Ribbon, p.P)
		}
	}
	return nil
}

// seek turns a velocity towards a place, at the given speed, as fast as agility allows.
func seek(v *vec, from, to vec, speed, agility float32) {
	want := engine.Scale(engine.Normalize(to.Sub(from)), speed)
	*v = engine.Mix(*v, want, mul(agility, step))
}

// drift wanders about the player on a slow wave of its own.
func (g *Game) drift(p *Position, v *Velocity, e *Enemy) {
	angle := mul(float32(g.Ticks&0xffff), 0.02) + mul(float32(e.Phase), 6.2831855/65536)
	sway := engine.Scale(engine.Heading(angle), 38)
	seek(&v.V, p.P, g.Player.P.Add(sway), g.breeds[e.Kind].speed, 1.6)
	if (g.Ticks+uint64(e.Phase))%4 == 0 { // a quarter of them each tick: nobody sees it
		e.Angle = turnTo(e.Angle, v.V, 12)
	}
}

// lance stalks, shows where it aims, charges through, rests.
func (g *Game) lance(p *Position, v *Velocity, e *Enemy) {
	to := g.Player.P.Sub(p.P)
	switch e.State {
	case lancerStalk:
		d := engine.Length(to)
		target := engine.MulAdd(g.Player.P, engine.Normalize(to), -150)
		seek(&v.V, p.P, target, g.breeds[e.Kind].speed, 2.5)
		e.Angle = turnTo(e.Angle, to, 6)
		if e.Timer <= 0 && d < 260 {
			e.State, e.Timer, e.Aim = lancerTell, 0.55, engine.Normalize(to)
		}
	case lancerTell:
		v.V = engine.Scale(v.V, 0.86)
		e.Aim = engine.Normalize(engine.Mix(e.Aim, engine.Normalize(to), 0.06))
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

// flock keeps a swarm together, apart, and after the player.
func (g *Game) flock(self ecs.Entity, p *Position, v *Velocity, e *Enemy) {
	near, apart, heading := g.grid.neighbours(self, p.P, 26)
	want := engine.Normalize(g.Player.P.Sub(p.P))
	want = engine.MulAdd(want, apart, 1.6)
	if near > 0 {
		want = engine.MulAdd(want, engine.Normalize(heading), 0.6)
	}
	wave := mul(float32(g.Ticks&0xffff), 0.11) + mul(float32(e.Phase), 6.2831855/65536)
	want = engine.MulAdd(want, engine.Perp(engine.Normalize(v.V)), mul(engine.Sin(wave), 0.7))
	seek(&v.V, vec{}, want, g.breeds[e.Kind].speed, 4)
	e.Angle = headingOf(v.V)
}

// ward closes in slowly, throws rings of orbs, and sends swarms when it is hurt.
func (g *Game) ward(p *Position, v *Velocity, e *Enemy) {
	seek(&v.V, p.P, g.Player.P, g.breeds[e.Kind].speed, 0.8)
	full := g.breeds[level.Warden].hp
	fury := 1 - clamp(float32(e.HP)/float32(full), 0, 1)
	e.Spin = 0.4 + mul(fury, 1.4)
	e.Angle += mul(e.Spin, step)
	if e.Timer <= 0 {
		e.Timer = 1.7 - mul(fury, 0.6)
		g.ring(p.P, 12+int(mul(fury, 8)), e.Angle)
	}
	// One swarm for each third of the hull that is gone; State counts them.
	if gone := uint8(mul(fury, 3)); gone > e.State && g.toll[level.Swarm] < 120 {
		e.State = gone
		for range 12 {
			dir := g.rng.Circle()
			g.wishFor(wish{p: engine.MulAdd(p.P, dir, 30), v: engine.Scale(dir, 190), enemy: level.Swarm})
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
