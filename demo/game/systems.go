package game

import "github.com/strata-go/strata/engine"

// schedule returns the systems of a tick, in their order, which the hash depends on. What they take
// from the frame arena begins and ends in one tick.
func (g *Game) schedule() *engine.Schedule {
	s := &g.systems
	if s.Len() > 0 {
		return s
	}
	s.MustAdd("player", func(t *engine.Tick) error { return g.movePlayer(&t.Input) })
	s.MustAdd("gifts", func(t *engine.Tick) error { g.choose(&t.Input); return nil })
	for _, system := range [...]struct {
		name string
		run  func() error
	}{
		{"flow", g.find}, {"enemies", g.moveHorde}, {"weather", g.weather}, {"shots", g.moveShots},
		{"collisions", g.collide}, {"arms", g.armory}, {"reap", g.reap}, {"embers", g.moveEmbers},
		{"pickups", g.movePickups}, {"omens", g.moveOmens}, {"wishes", g.grantWishes}, {"director", g.direct},
		{"effects", g.moveEffects}, {"look", g.look},
	} {
		s.MustAdd(system.name, func(*engine.Tick) error { return system.run() })
	}
	return s
}

// Systems returns the systems of a tick, with their times, for an overlay.
func (g *Game) Systems() *engine.Schedule { return g.schedule() }

// moveHorde moves the enemies, and begins the list of those that fall in this tick.
func (g *Game) moveHorde() error {
	g.doomed.begin(g)
	g.moveEnemies()
	return nil
}

// moveEffects moves what only the eye sees.
func (g *Game) moveEffects() error {
	g.fx.update(g)
	g.popups.update()
	g.scorch.update(g)
	g.Best = max(g.Best, g.fx.sys.Len())
	return nil
}
