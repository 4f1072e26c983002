package game

import (
	"github.com/strata-go/strata/demo/level"
	"github.com/strata-go/strata/engine"
)

// Autopilot plays when nobody does: it leads its aim, keeps its distance, slips away from
// orbs and charges, collects what lies near and flies into the portal. It is a function of
// the game's state, so a run with it is as repeatable as any.
func (g *Game) Autopilot() (in engine.Input) {
	p := &g.Player
	if g.Phase == Opened || g.Phase == Leaving {
		in.Move = engine.Normalize(g.PortalAt.Sub(p.P))
		return in
	}
	target, nearest := g.pickTarget()
	flee := g.threats()
	if nearest < 1e9 {
		to := target.p.Sub(p.P)
		lead := engine.MulAdd(target.p, target.v.Sub(engine.Scale(p.V, 0.3)), min(nearest/(shotSpeed+40), 0.5))
		in.Aim = engine.Normalize(lead.Sub(p.P))
		in.Down.Set(Fire, nearest < 360)
		dir := engine.Normalize(to)
		in.Move = engine.Scale(engine.Perp(dir), 0.7) // circle
		in.Move = engine.MulAdd(in.Move, dir, clamp((nearest-target.keep)/40, -1, 1))
	}
	if at, ok := g.nearestPickup(); ok && engine.Length(flee) < 0.6 {
		in.Move = engine.MulAdd(in.Move, engine.Normalize(at.Sub(p.P)), 1.2)
	}
	in.Move = engine.MulAdd(in.Move, flee, 2.2)
	centre := vec{mul(g.Level.Arena.Width, 0.5), mul(g.Level.Arena.Height, 0.5)}
	in.Move = engine.MulAdd(in.Move, centre.Sub(p.P), 0.0022)
	in.Move = engine.Limit(in.Move, 1)
	in.Pressed.Set(Dash, engine.Length(flee) > 1.5)
	return in
}

type target struct {
	p, v vec
	keep float32 // the distance to keep
}

func (g *Game) pickTarget() (t target, nearest float32) {
	nearest = 1e9
	for _, r := range g.actors.enemyFilter.All() {
		p, v, e := r.A, r.B, r.C
		d := engine.Distance(p.P, g.Player.P)
		weight := d
		if e.Kind == level.Warden {
			weight += 90 // the small ones first
		}
		if weight < nearest {
			nearest = weight
			t = target{p: p.P, v: v.V, keep: 95}
			if e.Kind == level.Warden {
				t.keep = 120
			}
		}
	}
	if nearest < 1e9 {
		nearest = engine.Distance(t.p, g.Player.P)
	}
	return t, nearest
}

// threats sums the pushes away from what would hit the player soon.
func (g *Game) threats() (flee vec) {
	away := func(p, v vec, radius, weight float32) {
		ahead := engine.MulAdd(p, v, 0.22)
		d := engine.Distance(g.Player.P, ahead)
		if d < radius && d > 0 {
			near := 1 - d/radius
			flee = engine.MulAdd(flee, engine.Normalize(g.Player.P.Sub(ahead)), mul(near, weight))
			side := engine.Perp(engine.Normalize(v))
			if engine.Dot(side, g.Player.P.Sub(p)) < 0 {
				side = engine.Scale(side, -1)
			}
			flee = engine.MulAdd(flee, side, mul(near, weight))
		}
	}
	for _, r := range g.actors.enemyFilter.All() {
		p, v, e := r.A, r.B, r.C
		switch {
		case e.Charges() || e.Tells():
			away(p.P, v.V, 90, 1.4)
		case e.Kind == level.Warden:
			away(p.P, v.V, 120, 1)
		default:
			away(p.P, v.V, 62, 0.8)
		}
	}
	for _, r := range g.actors.shotFilter.All() {
		if p, v, shot := r.A, r.B, r.C; shot.Hostile {
			away(p.P, v.V, 46, 1.2)
		}
	}
	return flee
}

func (g *Game) nearestPickup() (at vec, ok bool) {
	best := float32(190)
	for _, r := range g.actors.dropFilter.All() {
		p := r.A
		if d := engine.Distance(p.P, g.Player.P); d < best {
			best, at, ok = d, p.P, true
		}
	}
	return at, ok
}
