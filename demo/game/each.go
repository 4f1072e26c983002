package game

import "iter"

// EachShot calls f with every bullet and orb.
func (g *Game) EachShot(f func(p, v vec, s *Shot)) {
	for _, r := range g.actors.shotFilter.All() {
		f(r.A.P, r.B.V, r.C)
	}
}

// EachPickup calls f with everything that lies on the ground.
func (g *Game) EachPickup(f func(p vec, k *Pickup)) {
	for _, r := range g.actors.dropFilter.All() {
		f(r.A.P, r.C)
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
