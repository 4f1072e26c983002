package game

import (
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

// A Seal holds the heart shut. Fire breaks it, and so does a spark that stands on it; its guards
// would rather it did not.
type Seal struct {
	P      vec
	HP     int16
	Waves  uint8 // of guards that it has called
	Woken  bool  // its first guards have come
	Broken bool
	Flash  float32 // 1 when hit, fades
}

// SealRadius is the seals' radius in units.
const SealRadius = 24

const (
	sealHull   = 260
	sealWaves  = 3
	wakeReach  = 560 // from where on guards come
	heartReach = 420
)

// SealMost is a seal's hull in this round, for the bar.
func (g *Game) SealMost() int16 { return sealHull + sealHull*int16(min(g.Round, 20))/4 }

func (g *Game) resetSeals() {
	for i := range g.Seals {
		g.Seals[i] = Seal{P: vec(g.Realm.Info.Seals[i]), HP: g.SealMost()}
	}
	g.Broken, g.Woken, g.shock = 0, false, 0
	g.Heat = g.cfg.Heat
	g.owed, g.bolt, g.mine = 0, 0, 0
	g.aimAt(vec(g.Realm.Info.Start))
}

// aimAt sets what to go for next: the nearest seal that holds, or the heart.
func (g *Game) aimAt(from vec) {
	best := float32(1e12)
	g.Goal = realm.Heart
	for i := range g.Seals {
		if d := engine.LengthSquared(g.Seals[i].P.Sub(from)); !g.Seals[i].Broken && d < best {
			best, g.Goal = d, i
		}
	}
}

// GoalAt returns where to go next.
func (g *Game) GoalAt() vec {
	if g.Phase == Opened || g.Phase == Leaving {
		return g.PortalAt
	}
	return g.Realm.Place(g.Goal)
}

// sealAt returns a seal that holds and that a disc touches, or -1.
func (g *Game) sealAt(p vec, radius float32) int {
	reach := SealRadius + radius
	for i := range g.Seals {
		if s := &g.Seals[i]; !s.Broken && engine.LengthSquared(p.Sub(s.P)) < mul(reach, reach) {
			return i
		}
	}
	return -1
}

// crack harms a seal; what it has left calls guards, in waves.
func (g *Game) crack(i int, damage int16) {
	s := &g.Seals[i]
	if s.Broken || g.Phase != Fighting {
		return
	}
	s.HP -= damage
	s.Flash = 1
	if s.HP <= 0 {
		g.shatter(i)
		return
	}
	if most := g.SealMost(); int(s.Waves) < sealWaves && int(s.HP) < int(most)*(sealWaves-int(s.Waves))/(sealWaves+1) {
		s.Waves++
		g.garrison(i, 8+2*int(s.Waves)+2*g.Round)
		g.Shake(3)
	}
}

// garrison announces n guards of a seal about it.
func (g *Game) garrison(i, n int) {
	at := g.Seals[i].P
	for k := range n {
		kind := guardOf(k)
		dir := engine.Heading(mul(float32(k), 6.2831855/float32(n)) + g.rng.Range(0, 0.4))
		g.announce(kind, g.Realm.Open(engine.MulAdd(at, dir, g.rng.Range(70, 170)), breeds[kind].radius), uint8(i)+1)
	}
}

func (g *Game) shatter(i int) {
	s := &g.Seals[i]
	s.Broken, s.HP = true, 0
	g.Broken++
	g.freeze = 4
	g.Shake(12)
	g.Score += int64(5000 * g.Multiplier)
	g.popups.add(g, s.P, int64(5000*g.Multiplier))
	g.fx.shatterSeal(s.P)
	g.ripple(s.P)
	g.spill(s.P, 30)
	g.aimAt(s.P)
}

// The ring that a broken seal sends out: how fast, and how far.
const (
	rippleSpeed = 900
	rippleReach = 640
)

// ripple begins a ring in which nothing hostile lives, but wardens.
func (g *Game) ripple(at vec) { g.shock, g.center = 1, at }

// spread lets the ring grow, and end.
func (g *Game) spread() {
	if g.shock > 0 {
		if g.shock += rippleSpeed * step; g.shock > rippleReach {
			g.shock = 0
		}
	}
}

// Ripple returns the ring of a broken seal, and how far it has come: radius 0 for none.
func (g *Game) Ripple() (at vec, radius float32) { return g.center, g.shock }

// An Omen announces an enemy: it shows for a moment, then the enemy stands there.
type Omen struct {
	P    vec
	Kind realm.Enemy
	Post uint8
	Left float32 // seconds
}

// OmenTime is how long an enemy is announced, in seconds.
const OmenTime = 0.55

func (g *Game) announce(k realm.Enemy, at vec, post uint8) {
	if g.Realm.Solid(at) {
		return
	}
	_, omen, err := g.omens.New() // omens die of age, in address order, and need no handle
	if err != nil {
		g.Lost.Enemies++
		return
	}
	*omen = Omen{P: at, Kind: k, Post: post, Left: OmenTime}
	if k == realm.Warden {
		omen.Left = 1.1
	}
	g.fx.omen(at, breeds[k].size)
}

// Title returns what to announce.
func (g *Game) Title() string { return g.Realm.Info.Title }

// titleTime is how long a realm's title shows, in seconds.
const titleTime = 1.6

// direct is the director: it warms the realm, wakes guards and the warden, and opens the portal.
func (g *Game) direct() error {
	switch g.Phase {
	case Announce:
		if g.PhaseTime >= titleTime {
			g.enter(Fighting)
		}
	case Fighting:
		g.spread()
		g.watch()
		return g.stoke()
	case Opened:
		g.fx.portal(g.PortalAt)
		d := engine.Distance(g.Player.P, g.PortalAt)
		if d < 140 { // it draws the spark in
			g.Player.V = engine.MulAdd(g.Player.V, unit(g.PortalAt.Sub(g.Player.P)), 9)
		}
		if d < 22 || g.PhaseTime > 12 {
			g.enter(Leaving)
			g.fx.leave(g.Player.P)
			g.Shake(6)
		}
	case Leaving:
		g.fx.portal(g.PortalAt)
		if p := engine.Mix(g.Player.P, g.PortalAt, 0.2); !g.Realm.Solid(p) {
			g.Player.P = p
		}
	}
	return nil
}

// watch wakes what the player comes near to, and lets a seal feel who stands on it.
func (g *Game) watch() {
	for i := range g.Seals {
		s := &g.Seals[i]
		s.Flash = max(0, s.Flash-mul(step, 5))
		if s.Broken {
			continue
		}
		d := engine.LengthSquared(g.Player.P.Sub(s.P))
		if !s.Woken && d < wakeReach*wakeReach {
			s.Woken = true
			g.garrison(i, 10+3*g.Broken+2*g.Round)
		}
		if d < SealRadius*SealRadius && g.Player.Alive && g.Ticks%6 == 0 {
			g.crack(i, 2)
		}
	}
	heart := g.Realm.Place(realm.Heart)
	if g.Broken == realm.Seals && !g.Woken && engine.LengthSquared(g.Player.P.Sub(heart)) < heartReach*heartReach {
		g.Woken = true
		g.announce(realm.Warden, g.Realm.Open(heart, 24), postHeart)
		g.ripple(heart)
		g.Shake(8)
	}
}

// open opens the portal where the warden fell.
func (g *Game) open(at vec) {
	g.PortalAt = at
	g.Cleared++
	g.enter(Opened)
	g.Shake(4)
}
