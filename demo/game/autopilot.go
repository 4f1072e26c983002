package game

import (
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

// compass is how many directions the autopilot weighs.
const compass = 16

// A look is what the autopilot sees: how bad each direction is, and whom to fire at.
type look struct {
	g       *Game
	danger  [compass]float32
	target  vec
	v       vec // the target's
	nearest float32
	crowd   int // within reach of a touch, nearly
}

// Autopilot returns the input of a player that plays by itself. It flies along the guide to the next seal, breaks it,
// and fires at the nearest enemy. It avoids crowds, collects what lies near, takes gifts, and leaves through the
// portal. It is a function of the game's state, so that its runs are repeatable.
func (g *Game) Autopilot() (in engine.Input) {
	p := &g.Player
	l := look{g: g, nearest: 1e9}
	l.enemies()
	l.orbs()
	goal := g.GoalAt()
	to := goal.Sub(p.P)
	d := engine.Length(to)
	way := courseTo(g, goal)
	atSeal := g.Goal < realm.Heart && g.Phase == Fighting && d < 150
	switch {
	case atSeal: // round it, not too near
		way = engine.MulAdd(engine.Perp(unit(to)), unit(to), clamp((d-70)/40, -1, 1))
	case g.toll[realm.Warden] > 0 && g.Phase == Fighting && d < 500:
		way = l.aboutBoss(way)
	}
	in.Move = l.gap(way)
	in.Pressed.Set(Dash, l.crowd > 2)
	switch {
	case atSeal && l.nearest > 90 && g.Realm.Sees(p.P, goal):
		in.Aim = unit(to)
		in.Down.Set(Fire, true)
	case l.nearest < 330:
		lead := engine.MulAdd(l.target, l.v.Sub(engine.Scale(p.V, 0.3)), min(l.nearest/(shotSpeed+40), 0.5))
		in.Aim = unit(lead.Sub(p.P))
		in.Down.Set(Fire, true)
	}
	if g.Offered {
		in.Pressed.Set([3]engine.Buttons{Choose1, Choose2, Choose3}[g.prefer()], true)
	}
	return in
}

// courseTo returns the direction to fly to a goal.
func courseTo(g *Game, goal vec) vec {
	to := goal.Sub(g.Player.P)
	if engine.LengthSquared(to) < 400*400 && g.Realm.Sees(g.Player.P, goal) || g.Phase >= Opened {
		return unit(to)
	}
	return g.Realm.Guide(g.Goal, g.Player.P)
}

// aboutBoss circles a warden at a distance: the first in storage order.
func (l *look) aboutBoss(way vec) vec {
	for _, r := range l.g.cast.enemyFilter.All() {
		if r.C.Kind != realm.Warden {
			continue
		}
		to := r.A.P.Sub(l.g.Player.P)
		d := engine.Length(to)
		if l.nearest > 40 && d < 330 {
			l.target, l.v, l.nearest = r.A.P, r.B.V, d
		}
		return engine.MulAdd(engine.Perp(unit(to)), unit(to), clamp((d-150)/50, -1, 1))
	}
	return way
}

// gap returns the direction that is safest and leads where it should.
func (l *look) gap(way vec) (best vec) {
	g := l.g
	most := float32(-1e9)
	at, drawn := g.nearestEmber()
	for k := range compass {
		dir := realm.Headings[1+k*realm.Directions/compass]
		score := mul(engine.Dot(dir, way), 1.3) - l.danger[k]/(1+mul(l.danger[k], 0.35)) // a crowd everywhere is no reason to stay
		if drawn {
			score += mul(engine.Dot(dir, unit(at.Sub(g.Player.P))), 0.5)
		}
		if ahead := engine.MulAdd(g.Player.P, dir, 44); g.Realm.Near(ahead, -6) {
			score -= 1.2
		} else if !g.Realm.Sees(g.Player.P, engine.MulAdd(g.Player.P, dir, 90)) {
			score -= 0.4
		}
		if score > most {
			most, best = score, dir
		}
	}
	return best
}

// fear adds somebody at an offset to the danger of the directions that lead to it.
func (l *look) fear(to vec, reach, weight float32) {
	sq := engine.LengthSquared(to)
	if sq > mul(reach, reach) || sq < 1e-3 {
		return
	}
	inv := realm.InvSqrt(sq)
	near := 1 - mul(mul(sq, inv), 1/reach)
	dir := engine.Scale(to, inv)
	for k := range l.danger {
		if dot := engine.Dot(realm.Headings[1+k*realm.Directions/compass], dir) + 0.25; dot > 0 {
			l.danger[k] += mul(mul(dot, mul(near, near)), weight)
		}
	}
}

func (l *look) enemies() {
	g := l.g
	me := g.Player.P
	for _, c := range g.cast.enemyFilter.Chunks() {
		for i := range c.A {
			to := c.A[i].P.Sub(me)
			if !(max(to[0], -to[0]) < 340 && max(to[1], -to[1]) < 340) {
				continue
			}
			e := &c.C[i]
			d := engine.Length(to)
			if d < l.nearest && g.Realm.Sees(me, c.A[i].P) {
				l.nearest, l.target, l.v = d, c.A[i].P, c.B[i].V
			}
			ahead := engine.MulAdd(to, c.B[i].V, 0.2)
			if b := &breeds[e.Kind]; e.Charges() || e.Tells() {
				l.fear(ahead, 170, 4)
			} else {
				l.fear(ahead, b.reach, b.fear)
			}
			if d < 36 {
				l.crowd++
			}
		}
	}
}

func (l *look) orbs() {
	for _, r := range l.g.cast.shotFilter.All() {
		if r.C.Hostile {
			to := r.A.P.Sub(l.g.Player.P)
			l.fear(engine.MulAdd(to, r.B.V, 0.15), 80, 3)
		}
	}
}

func (g *Game) nearestEmber() (at vec, ok bool) {
	best := float32(200 * 200)
	for _, e := range g.cast.embers.All() {
		if d := engine.LengthSquared(e.P.Sub(g.Player.P)); d < best {
			best, at, ok = d, e.P, true
		}
	}
	for _, r := range g.cast.dropFilter.All() {
		if d := engine.LengthSquared(r.A.P.Sub(g.Player.P)); d < best {
			best, at, ok = d, r.A.P, true
		}
	}
	return at, ok
}

// taste is the order in which the autopilot takes gifts.
var taste = [GiftKinds]int{GiftVolley: 0, GiftSparks: 1, GiftLightning: 2, GiftFire: 3, GiftMines: 4, GiftHull: 5, GiftHaste: 6, GiftBeam: 7, GiftFrost: 8}

// prefer returns which of the gifts that are offered to take.
func (g *Game) prefer() int {
	best, at := 1<<20, 0
	for i, k := range g.Offer {
		rank := taste[k] + 3*int(g.Gifts[k]) // some of each
		if k == GiftHull && g.Player.Hull <= 3 {
			rank = -1
		}
		if rank < best {
			best, at = rank, i
		}
	}
	return at
}
