package game

import (
	"errors"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
)

// tolerate turns a full tier or a full world into a loss that the game has counted. It returns any
// other error.
func tolerate(err error) error {
	if errors.Is(err, memory.ErrOutOfMemory) || errors.Is(err, ecs.ErrLimit) || errors.Is(err, memory.ErrTooLarge) {
		return nil
	}
	return err
}

func (g *Game) spawnShot(p, v vec, s Shot) error {
	if _, err := g.actors.shots.NewEntity(Position{p}, Velocity{v}, s); err != nil {
		g.Lost.Shots++
		return tolerate(err)
	}
	return nil
}

// moveShots flies them; walls burst them.
func (g *Game) moveShots() error {
	cmd := g.world.Commands()
	for shot, r := range g.actors.shotFilter.All() {
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
				g.hurt(s.Damage, p.P)
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

// maxHits bounds the hits of one tick; it is far above what a volley can do.
const maxHits = 512

// collide finds the shots that hit, on the grid, and then lets them.
func (g *Game) collide() error {
	hits := g.hitList()
	most := g.grid.most(hits)
	for shot, r := range g.actors.shotFilter.All() {
		p, v, s := r.A, r.B, r.C
		if s.Hostile || len(hits) == most {
			continue
		}
		if e, ok := g.grid.touch(p.P, 3); ok {
			hits = append(hits, hit{shot: shot, enemy: e, p: p.P, v: v.V, damage: s.Damage})
		} else if e, ok := g.bossAt(p.P, 3); ok {
			hits = append(hits, hit{shot: shot, enemy: e, p: p.P, v: v.V, damage: s.Damage})
		} else if i := g.sealAt(p.P, 3); i >= 0 {
			g.crack(i, s.Damage)
			hits = append(hits, hit{shot: shot, p: p.P, v: v.V})
		}
	}
	for i := range hits {
		h := &hits[i]
		if h.enemy.IsZero() { // a seal took it
			g.fx.hit(h.p, h.v)
			g.world.Remove(h.shot)
			continue
		}
		if err := g.strike(h); err != nil {
			return err
		}
	}
	return nil
}

// bossAt finds a warden, for which cells are too small; there is hardly ever more than one.
func (g *Game) bossAt(p vec, radius float32) (ecs.Entity, bool) {
	if g.toll[realm.Warden] == 0 {
		return ecs.Entity{}, false
	}
	for _, b := range g.grid.bosses[:g.grid.bossN] {
		reach := breeds[realm.Warden].radius + radius
		if pos, _, _, ok := g.actors.enemies.Get(b); ok && engine.LengthSquared(p.Sub(pos.P)) < mul(reach, reach) {
			return b, true
		}
	}
	return ecs.Entity{}, false
}

// hitList takes room for the tick's hits, or for fewer where the frame arena is full.
func (g *Game) hitList() []hit {
	for n := maxHits; n > 0; n /= 2 {
		if hits, err := scratchList(&g.store, hitType, &g.store.kept.hits, n); err == nil {
			return hits
		}
		g.Lost.Hits++
	}
	return nil
}

// strike lets a hit do its harm, and what the gifts add to it.
func (g *Game) strike(h *hit) error {
	pos, v, e, ok := g.actors.enemies.Get(h.enemy)
	if !ok || e.HP <= 0 {
		return nil // another one of this tick was faster; a shot flies on
	}
	e.Flash = 1
	v.V = engine.MulAdd(v.V, h.v, breeds[e.Kind].kick)
	g.fx.hit(h.p, h.v)
	if !h.shot.IsZero() {
		g.world.Remove(h.shot)
	}
	if s, ok := g.actors.shielded.Get(h.enemy); ok {
		if s.HP -= h.damage; s.HP > 0 {
			g.marks.add(g, h.enemy, e, MarkCrack, h.p.Sub(pos.P))
			return nil
		}
		g.fx.shatter(h.p)
		_, err := g.actors.shielded.Remove(h.enemy)
		return tolerate(err)
	}
	if e.HP -= h.damage; e.HP <= 0 {
		return g.kill(h.enemy)
	}
	g.marks.add(g, h.enemy, e, MarkDent, h.p.Sub(pos.P))
	if h.shot.IsZero() {
		return nil
	}
	// Behind the last look at e: a component more moves it.
	if g.Gifts[GiftFire] > 0 && g.rng.Chance(mul(float32(g.Gifts[GiftFire]), 0.3)) {
		if err := g.ignite(h.enemy); err != nil {
			return err
		}
	}
	if g.Gifts[GiftFrost] > 0 && g.rng.Chance(mul(float32(g.Gifts[GiftFrost]), 0.3)) {
		return g.chill(h.enemy)
	}
	return nil
}

// kill is a burst, never a blink.
func (g *Game) kill(id ecs.Entity) error {
	p, v, e, ok := g.actors.enemies.Get(id)
	if !ok {
		return nil
	}
	at, vel, kind, post := p.P, v.V, e.Kind, e.Post
	worth := breeds[kind].worth
	if el, ok := g.actors.elite.Get(id); ok {
		worth += el.Worth
	}
	g.forget(id, e)
	return g.fall(at, vel, kind, post, worth)
}

// fall is all that one leaves who is no longer in the world.
func (g *Game) fall(at, vel vec, kind realm.Enemy, post uint8, worth int16) error {
	b := &breeds[kind]
	g.Kills++
	g.streak++
	g.Multiplier = min(9, 1+g.streak/12)
	won := int64(b.score) * int64(g.Multiplier)
	g.Score += won
	if b.score >= 100 { // of the small ones there are too many to read
		g.popups.add(g, at, won)
	}
	g.fx.burst(at, vel, kind)
	g.scorch.burn(g, at, b.size)
	g.spill(at, worth)
	g.splinter(at)
	g.freeze = max(g.freeze, b.freeze)
	if b.shake > 0 {
		g.Shake(b.shake)
	}
	if !b.boss {
		return g.maybeDrop(at, b)
	}
	if post == postHeart {
		g.open(at)
	}
	return g.drop(at, PickupHull)
}
