package game

import "iter"

// EachShot calls f with every bullet and orb.
func (g *Game) EachShot(f func(p, v vec, s *Shot)) {
	q := g.actors.shotFilter.Query()
	for q.Next() {
		p, v, s := q.Get()
		f(p.P, v.V, s)
	}
}

// EachPickup calls f with everything that lies on the ground.
func (g *Game) EachPickup(f func(p vec, k *Pickup)) {
	q := g.actors.dropFilter.Query()
	for q.Next() {
		p, _, k := q.Get()
		f(p.P, k)
	}
}

// Omens yields the announcements that show.
func (g *Game) Omens() iter.Seq[*Omen] {
	return func(yield func(*Omen) bool) {
		for _, o := range g.omens.All() {
			if !yield(o) {
				return
			}
		}
	}
}
