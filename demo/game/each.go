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

// StatusKinds is how many components are added to and removed from enemies in play.
const StatusKinds = 4

// Statuses returns how many enemies burn, are chilled, are elite and are shielded, in this order.
func (g *Game) Statuses() (n [StatusKinds]int) {
	a := &g.actors
	for es := range a.enemyFilter.Chunks() {
		for k, on := range [StatusKinds]bool{a.burning.Column(es) != nil, a.chilled.Column(es) != nil, a.elite.Column(es) != nil, a.shielded.Column(es) != nil} {
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
		for _, o := range g.omens.All() {
			if !yield(o) {
				return
			}
		}
	}
}
