package game

import "github.com/strata-go/strata/engine"

// schedule returns the systems of a tick, in their order, which the hash depends on. What they allocate from the frame
// arena is used within one tick.
func (g *Game) schedule() *engine.Schedule {
	s := &g.systems
	if s.Len() > 0 {
		return s
	}
	c, h := &g.cast, &g.horde
	for _, system := range [...]struct {
		name string
		run  func(*Game) error
	}{
		{"player", func(g *Game) error { return g.Player.tick(g, &g.tick.Input) }},
		{"gifts", func(g *Game) error { g.choose(g, &g.tick.Input); return nil }},
		{"flow", h.find}, {"enemies", h.move}, {"weather", c.weather}, {"shots", c.moveShots},
		{"collisions", c.collide}, {"arms", g.arms.tick}, {"reap", h.reap}, {"embers", c.moveEmbers},
		{"pickups", c.movePickups}, {"omens", c.moveOmens}, {"wishes", c.grantWishes}, {"director", direct},
		{"effects", moveEffects}, {"look", g.sight.look},
	} {
		s.MustAdd(system.name, func(*engine.Tick) error { return system.run(g) })
	}
	return s
}

// direct is the director: it warms the realm, wakes guards and the warden, and takes the player
// through the portal.
func direct(g *Game) error {
	g.spread() // in every phase, or a ring of the last moment would stay
	switch g.Phase {
	case Announce:
		if g.PhaseTime >= titleTime {
			g.enter(Fighting)
			g.horde.scout(g)
		}
	case Fighting:
		g.watch(g)
		return g.horde.stoke(g)
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

// titleTime is how long a realm's title shows, in seconds.
const titleTime = 1.6

// open opens the portal where the warden fell.
func (g *Game) open(at vec) {
	g.PortalAt = at
	g.fx.open(at)
	g.Cleared++
	g.enter(Opened)
	g.Shake(4)
}

// moveEffects moves what is only seen.
func moveEffects(g *Game) error {
	g.fx.update(g)
	g.popups.update()
	g.scorch.update(g)
	g.Best = max(g.Best, g.fx.sys.Len())
	return nil
}
