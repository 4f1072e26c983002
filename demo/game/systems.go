package game

import "github.com/strata-go/strata/engine"

// schedule returns the systems of a tick, in their order, which the hash depends on.
func (g *Game) schedule() *engine.Schedule {
	s := &g.systems
	if s.Len() > 0 {
		return s
	}
	s.MustAdd("player", func(t *engine.Tick) error { return g.movePlayer(&t.Input) })
	for _, system := range [...]struct {
		name string
		run  func() error
	}{
		{"enemies", g.moveEnemies}, {"shots", g.moveShots}, {"pickups", g.movePickups}, {"omens", g.moveOmens},
		{"wishes", g.grantWishes}, {"collisions", g.collide}, {"waves", g.direct}, {"effects", g.moveEffects}, {"look", g.look},
	} {
		s.MustAdd(system.name, func(*engine.Tick) error { return system.run() })
	}
	return s
}

// Systems returns the systems of a tick, with their times, for an overlay.
func (g *Game) Systems() *engine.Schedule { return g.schedule() }

// moveEffects moves what only the eye sees.
func (g *Game) moveEffects() error {
	g.fx.update(g)
	g.popups.update()
	g.scorch.cool()
	g.Best = max(g.Best, g.fx.sys.Len())
	return nil
}
