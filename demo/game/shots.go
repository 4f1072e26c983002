package game

import (
	"errors"

	"github.com/strata-go/strata/demo/level"
	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
)

// tolerate turns a full tier into a loss that the game has counted, and passes on the rest.
func tolerate(err error) error {
	if errors.Is(err, memory.ErrOutOfMemory) || errors.Is(err, memory.ErrTooLarge) {
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

func (g *Game) moveShots() error {
	cmd := g.world.Commands()
	for shot, r := range g.actors.shotFilter.All() {
		p, v, s := r.A, r.B, r.C
		p.P = engine.MulAdd(p.P, v.V, step)
		s.Life -= step
		out := p.P[0] < -20 || p.P[1] < -20 || p.P[0] > g.Level.Arena.Width+20 || p.P[1] > g.Level.Arena.Height+20
		switch {
		case out || s.Life <= 0:
			cmd.Destroy(shot)
		case s.Hostile:
			if g.Player.Alive && engine.Distance(p.P, g.Player.P) < 4+playerRadius {
				g.hurt(s.Damage, p.P)
				cmd.Destroy(shot)
			}
		}
	}
	return tolerate(cmd.Apply())
}

// A hit is a shot that found an enemy.
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
	if err := g.grid.build(g); err != nil {
		g.Lost.Grids++
		return nil // without room for a grid, shots pass through
	}
	hits := g.hitList()
	n := 0
	for shot, r := range g.actors.shotFilter.All() {
		p, v, s := r.A, r.B, r.C
		if s.Hostile || n == len(hits) {
			continue
		}
		if e, ok := g.grid.at(p.P, 3); ok {
			hits[n] = hit{shot: shot, enemy: e, p: p.P, v: v.V, damage: s.Damage}
			n++
		}
	}
	for i := range hits[:n] {
		if err := g.strike(&hits[i]); err != nil {
			return err
		}
	}
	return nil
}

// hitList takes room for the tick's hits, or for fewer where the frame arena is full.
func (g *Game) hitList() []hit {
	for n := maxHits; n > 0; n /= 2 {
		if hits, err := arena.MakeSliceUninit(g.mem.Frame(), hitType, n); err == nil {
			return hits
		}
		g.Lost.Hits++
	}
	return nil
}

func (g *Game) strike(h *hit) error {
	_, v, e, ok := g.actors.enemies.Get(h.enemy)
	if !ok || e.HP <= 0 {
		return nil // another shot of this tick was faster; this one flies on
	}
	e.HP -= h.damage
	e.Flash = 1
	kick := float32(0.05)
	if e.Kind == level.Warden {
		kick = 0.004
	}
	v.V = engine.MulAdd(v.V, h.v, kick)
	g.fx.hit(h.p, h.v)
	g.world.Remove(h.shot)
	if e.HP <= 0 {
		return g.kill(h.enemy)
	}
	return nil
}

// kill is a burst, never a blink.
func (g *Game) kill(id ecs.Entity) error {
	p, v, e, ok := g.actors.enemies.Get(id)
	if !ok {
		return nil
	}
	at, vel, kind := p.P, v.V, e.Kind
	b := &breeds[kind]
	g.ribbons.give(g.heap, e.Ribbon)
	g.world.Remove(id)
	g.toll[kind]--
	g.Kills++
	g.streak++
	g.Multiplier = min(9, 1+g.streak/12)
	won := int64(b.score) * int64(g.Multiplier)
	g.Score += won
	g.popups.add(g, at, won)
	g.fx.burst(at, vel, kind)
	g.scorch.burn(g.Level, at, b.size)
	switch kind {
	case level.Warden:
		g.freeze = 6
		g.Shake(12)
		for range 6 {
			if err := g.drop(engine.MulAdd(at, g.rng.Disc(), 40), PickupScore); err != nil {
				return err
			}
		}
		return g.drop(at, PickupHull)
	case level.Lancer:
		g.freeze = max(g.freeze, 2)
		g.Shake(3)
	case level.Drifter:
		g.Shake(1.2)
	}
	return g.maybeDrop(at, kind)
}
