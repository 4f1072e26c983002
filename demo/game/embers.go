package game

import (
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

// An Ember lies where an enemy has fallen or a seal has broken. When the player has collected enough embers, three
// gifts are offered, of which the player takes one.
type Ember struct {
	P, V  vec
	Life  float32 // seconds until it goes out
	Worth int16   // how many embers it counts as
}

const (
	emberMost = 16384 // at once
	emberLife = 14.0
	worldSide = float32(realm.World)
)

// spill leaves embers, few of more worth where there are many.
func (c *cast) spill(g *Game, at vec, worth int16) {
	for each := 1 + worth/8; worth > 0; worth -= each {
		_, e, err := c.embers.New()
		if err != nil {
			g.Lost.Embers++
			return
		}
		*e = Ember{P: at, V: engine.Scale(g.rng.Disc(), 90), Life: emberLife, Worth: min(each, worth)}
	}
}

// moveEmbers lets them come to rest, cool, and fly to a spark that is near.
func (c *cast) moveEmbers(g *Game) error {
	reach := float32(magnetRadius + 14*int(g.Gifts[GiftHaste]))
	if g.fresh > 0 {
		reach = max(reach, 2*magnetRadius)
	}
	for h, e := range c.embers.All() {
		if e.Life -= step; e.Life <= 0 {
			c.embers.Free(h)
			continue
		}
		to := g.Player.P.Sub(e.P)
		if sq := engine.LengthSquared(to); sq < mul(reach, reach) && g.Player.Alive {
			if sq < 15*15 {
				g.fx.ember(e.P)
				g.gather(g, int(e.Worth))
				c.embers.Free(h)
				continue
			}
			e.V = engine.MulAdd(engine.Scale(e.V, 0.9), unit(to), 38)
		} else if e.V = engine.Scale(e.V, 0.93); e.V[0] < 1 && e.V[0] > -1 && e.V[1] < 1 && e.V[1] > -1 {
			continue // it lies
		}
		from := e.P
		e.P = engine.MulAdd(e.P, e.V, step)
		g.Realm.Slide(&e.P, &e.V, from, 3, 0.6)
	}
	return nil
}

// EachEmber calls f with every ember. e is valid during the call.
func (g *Game) EachEmber(f func(e *Ember)) {
	for _, e := range g.cast.embers.All() {
		f(e)
	}
}
