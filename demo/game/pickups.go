package game

import "github.com/strata-go/strata/engine"

const (
	pickupLife   = 9.0
	pickupRadius = 9.0
	magnetRadius = 70.0
)

// PickupFade is the time for which a pickup blinks before it ends, in seconds.
const PickupFade = 2.0

// maybeDrop leaves something where an enemy died, now and then.
func (c *cast) maybeDrop(g *Game, at vec, b *breed) error {
	if !g.rng.Chance(mul(b.drops, 500/(500+g.horde.wanted(g)))) { // a horde leaves no more than a handful
		return nil
	}
	kind := PickupScore
	if r := g.rng.Float32(); r < 0.2 {
		kind = PickupPower
	} else if r > 0.5 && g.Player.Hull < g.Player.Most {
		kind = PickupHull
	}
	return c.drop(g, at, kind)
}

func (c *cast) drop(g *Game, at vec, k PickupKind) error {
	v := engine.Scale(g.rng.Circle(), 40)
	if _, err := c.pickups.NewEntity(Position{at}, Velocity{v}, Pickup{Kind: k, Life: pickupLife}); err != nil {
		g.Lost.Pickups++
		return tolerate(err)
	}
	return nil
}

func (c *cast) movePickups(g *Game) error {
	cmd := c.world.Commands()
	for pickup, r := range c.dropFilter.All() {
		p, v, k := r.A, r.B, r.C
		k.Life -= step
		v.V = engine.Scale(v.V, 0.97)
		d := engine.Distance(p.P, g.Player.P)
		if d < magnetRadius && g.Player.Alive {
			v.V = engine.MulAdd(v.V, engine.Normalize(g.Player.P.Sub(p.P)), 22)
		}
		from := p.P
		p.P = engine.MulAdd(p.P, v.V, step)
		g.Realm.Slide(&p.P, &v.V, from, pickupRadius, 0.5)
		switch {
		case d < pickupRadius+playerRadius && g.Player.Alive:
			g.Player.collect(g, k.Kind, p.P)
			cmd.Destroy(pickup)
		case k.Life <= 0:
			cmd.Destroy(pickup)
		}
	}
	return tolerate(cmd.Apply())
}
