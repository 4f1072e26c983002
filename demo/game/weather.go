package game

import (
	"github.com/strata-go/strata/ecs"
)

const (
	burnTime  = 2.4
	burnEvery = 0.4
	chillTime = 1.6
)

// weather is what comes and goes on enemies: fire hurts, frost thaws.
func (g *Game) weather() error {
	cmd := g.world.Commands()
	for id, r := range g.actors.fireFilter.All() {
		b := r.C
		b.Left -= step
		if b.Next -= step; b.Next <= 0 {
			b.Next += burnEvery
			r.B.HP--
			r.B.Flash = max(r.B.Flash, 0.5)
			g.fx.flame(r.A.P)
		}
		if r.B.HP <= 0 {
			g.doomed.add(id, false)
		} else if b.Left <= 0 {
			ecs.RemoveFrom(cmd, g.actors.burning, id)
		}
	}
	for id, c := range g.actors.coldFilter.All() {
		if c.Left -= step; c.Left <= 0 {
			ecs.RemoveFrom(cmd, g.actors.chilled, id)
		}
	}
	g.marks.fade(g)
	return tolerate(cmd.Apply())
}

// ignite sets an enemy on fire, or keeps it burning.
func (g *Game) ignite(id ecs.Entity) error {
	g.mark(id, MarkFlame, g.flicker(8))
	if b, ok := g.actors.burning.Get(id); ok {
		b.Left = burnTime
		return nil
	}
	return g.bestow(g.actors.burning.Add(id, Burning{Left: burnTime, Next: burnEvery}))
}

// chill slows an enemy down.
func (g *Game) chill(id ecs.Entity) error {
	g.mark(id, MarkFrost, g.flicker(8))
	if c, ok := g.actors.chilled.Get(id); ok {
		c.Left = chillTime
		return nil
	}
	return g.bestow(g.actors.chilled.Add(id, Chilled{Left: chillTime}))
}

// bestow judges the addition of a component: without room it is lost, and of the dead it is nothing.
func (g *Game) bestow(err error) error {
	if err == nil || err == ecs.ErrStale {
		return nil
	}
	g.Lost.Enemies++
	return tolerate(err)
}
