package game

import "iter"

// EachShot calls f with every bullet and orb.
func (g *Game) EachShot(f func(p, v vec, s *Shot)) {
	for _, r := range g.cast.shotFilter.All() {
		f(r.A.P, r.B.V, r.C)
	}
}

// EachPickup calls f with everything that lies on the ground.
func (g *Game) EachPickup(f func(p vec, k *Pickup)) {
	for _, r := range g.cast.dropFilter.All() {
		f(r.A.P, r.C)
	}
}

// StatusKinds is how many components are added to and removed from enemies in play.
const StatusKinds = 4

// Statuses returns how many enemies burn, are chilled, are elite and are shielded, in this order.
func (g *Game) Statuses() (n [StatusKinds]int) {
	c := &g.cast
	for es := range c.enemyFilter.Chunks() {
		for k, on := range [StatusKinds]bool{c.burning.Column(es) != nil, c.chilled.Column(es) != nil, c.elite.Column(es) != nil, c.shielded.Column(es) != nil} {
			if on {
				n[k] += len(es)
			}
		}
	}
	return n
}

// Omens yields the announcements that show.
func (g *Game) Omens() iter.Seq[*Omen] {
	return func(yield func(*Omen) bool) {
		for _, o := range g.cast.omens.All() {
			if !yield(o) {
				return
			}
		}
	}
}
