package game

import (
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
)

// moveShots flies them; walls burst them.
func (c *cast) moveShots(g *Game) error {
	cmd := c.world.Commands()
	for shot, r := range c.shotFilter.All() {
		p, v, s := r.A, r.B, r.C
		p.P = engine.MulAdd(p.P, v.V, step)
		s.Life -= step
		switch {
		case g.Realm.Solid(p.P):
			g.fx.splash(p.P, v.V)
			cmd.Destroy(shot)
		case s.Life <= 0:
			cmd.Destroy(shot)
		case s.Hostile:
			if g.Player.Alive && engine.LengthSquared(p.P.Sub(g.Player.P)) < (4+playerRadius)*(4+playerRadius) {
				g.Player.hurt(g, s.Damage, p.P, CauseShot)
				cmd.Destroy(shot)
			}
		}
	}
	return tolerate(cmd.Apply())
}

// A hit is something that found an enemy: a shot, or nothing that could be named.
type hit struct {
	shot, enemy ecs.Entity
	p, v        vec
	damage      int16
}

var hitType = memory.MustType[hit]()

// maxHits bounds the hits of all shots of a tick, and those of each stroke. It is far above what a
// volley can do.
const maxHits = 512

// collide finds the shots that hit, on the grid, and then lets them.
func (c *cast) collide(g *Game) error {
	gr := &g.horde.grid
	hits := gr.list(g)
	most := gr.most(hits)
	for shot, r := range c.shotFilter.All() {
		p, v, s := r.A, r.B, r.C
		if s.Hostile || len(hits) == most {
			continue
		}
		if e, ok := gr.touch(p.P, 3); ok {
			hits = append(hits, hit{shot: shot, enemy: e, p: p.P, v: v.V, damage: s.Damage})
		} else if e, ok := gr.bossAt(g, p.P, 3); ok {
			hits = append(hits, hit{shot: shot, enemy: e, p: p.P, v: v.V, damage: s.Damage})
		} else if i := g.sealAt(p.P, 3); i >= 0 {
			g.crack(g, i, s.Damage)
			hits = append(hits, hit{shot: shot, p: p.P, v: v.V})
		}
	}
	for i := range hits {
		h := &hits[i]
		if h.enemy.IsZero() { // a seal took it
			g.Struck++
			g.fx.hit(h.p, h.v)
			c.world.Remove(h.shot)
			continue
		}
		if err := c.strike(g, h); err != nil {
			return err
		}
	}
	return nil
}

// strike lets a hit do its harm, and what the gifts add to it.
func (c *cast) strike(g *Game, h *hit) error {
	pos, v, e, ok := c.enemies.Get(h.enemy)
	if !ok || e.HP <= 0 {
		return nil // another one of this tick was faster; a shot flies on
	}
	if _, cold := c.chilled.Get(h.enemy); cold {
		h.damage *= brittle
	}
	e.Flash = 1
	v.V = engine.MulAdd(v.V, h.v, breeds[e.Kind].kick)
	g.fx.hit(h.p, h.v)
	if !h.shot.IsZero() {
		g.Struck++
		c.world.Remove(h.shot)
	}
	if s, ok := c.shielded.Get(h.enemy); ok {
		if s.HP -= h.damage; s.HP > 0 {
			c.marks.add(g, h.enemy, e, MarkCrack, h.p.Sub(pos.P))
			return nil
		}
		g.fx.shatter(h.p)
		_, err := c.shielded.Remove(h.enemy)
		return tolerate(err)
	}
	at := pos.P
	if e.HP -= h.damage; e.HP > 0 {
		c.marks.add(g, h.enemy, e, MarkDent, h.p.Sub(at))
	} else if err := c.kill(g, h.enemy); err != nil {
		return err
	}
	if h.shot.IsZero() {
		return nil
	}
	return c.afflict(g, at)
}

// afflict lets a hit of a shot burn and slow the enemies about it: most of the horde fall at the first hit.
func (c *cast) afflict(g *Game, at vec) error {
	for _, s := range [...]struct {
		gift Gift
		do   func(*cast, *Game, ecs.Entity) error
	}{{GiftFire, (*cast).ignite}, {GiftFrost, (*cast).chill}} {
		n := int(g.Gifts[s.gift])
		if n == 0 || !g.rng.Chance(statusChance(n)) {
			continue
		}
		for e := range g.horde.grid.about(at, statusReach(n)) {
			if err := s.do(c, g, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// kill is a burst, never a blink.
func (c *cast) kill(g *Game, id ecs.Entity) error {
	p, v, e, ok := c.enemies.Get(id)
	if !ok {
		return nil
	}
	at, vel, kind, post := p.P, v.V, e.Kind, e.Post
	worth := breeds[kind].worth
	if el, ok := c.elite.Get(id); ok {
		worth += el.Worth
	}
	c.forget(g, id, e)
	return c.fall(g, at, vel, kind, post, worth)
}

// fall is all that one leaves who is no longer in the world.
func (c *cast) fall(g *Game, at, vel vec, kind realm.Enemy, post uint8, worth int16) error {
	b := &breeds[kind]
	g.Kills++
	g.Fallen[kind]++
	g.chain(g.streak + 1)
	won := g.win(b.score)
	if b.score >= 100 { // of the small ones there are too many to read
		g.popups.add(g, at, won)
	}
	g.fx.burst(at, vel, kind)
	g.scorch.burn(g, at, b.size)
	c.spill(g, at, worth)
	c.splinter(g, at)
	g.freeze = max(g.freeze, b.freeze)
	if b.shake > 0 {
		g.Shake(b.shake)
	}
	if !b.boss {
		return c.maybeDrop(g, at, b)
	}
	if post == postHeart {
		g.open(at)
	}
	return c.drop(g, at, PickupHull)
}
