package game

import "github.com/strata-go/strata/ecs"

const (
	burnTime  = 2.4
	burnEvery = 0.2
	chillTime = 2.0
	brittle   = 2 // what a hit is multiplied by on who is chilled
)

// weather is what comes and goes on enemies: fire hurts, frost thaws.
func (c *cast) weather(g *Game) error {
	cmd := c.world.Commands()
	for id, r := range c.fireFilter.All() {
		b := r.C
		b.Left -= step
		if b.Next -= step; b.Next <= 0 {
			b.Next += burnEvery
			r.B.HP--
			r.B.Flash = max(r.B.Flash, 0.5)
			g.fx.flame(r.A.P)
		}
		if r.B.HP <= 0 {
			g.horde.doomed.add(id, false)
		} else if b.Left <= 0 {
			ecs.RemoveFrom(cmd, c.burning, id)
		}
	}
	for id, x := range c.coldFilter.All() {
		if x.Left -= step; x.Left <= 0 {
			ecs.RemoveFrom(cmd, c.chilled, id)
		}
	}
	c.marks.fade(c)
	return tolerate(cmd.Apply())
}

// ignite sets an enemy on fire, or keeps it burning.
func (c *cast) ignite(g *Game, id ecs.Entity) error {
	c.mark(g, id, MarkFlame, flicker(g, 8))
	if b, ok := c.burning.Get(id); ok {
		b.Left = burnTime
		return nil
	}
	if p, _, _, ok := c.enemies.Get(id); ok {
		g.fx.ignite(p.P)
	}
	return bestow(g, c.burning.Add(id, Burning{Left: burnTime, Next: burnEvery}))
}

// chill slows an enemy down.
func (c *cast) chill(g *Game, id ecs.Entity) error {
	c.mark(g, id, MarkFrost, flicker(g, 8))
	if x, ok := c.chilled.Get(id); ok {
		x.Left = chillTime
		return nil
	}
	if p, _, _, ok := c.enemies.Get(id); ok {
		g.fx.chill(p.P)
	}
	return bestow(g, c.chilled.Add(id, Chilled{Left: chillTime}))
}

// bestow judges the addition of a component: without room it is lost, and of the dead it is nothing.
func bestow(g *Game, err error) error {
	if err == nil || err == ecs.ErrStale {
		return nil
	}
	g.Lost.Enemies++
	return tolerate(err)
}
