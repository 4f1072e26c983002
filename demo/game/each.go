package game

import "iter"

// EachShot calls f with the position, the velocity and the data of every bullet and orb. s is valid during the call.
func (g *Game) EachShot(f func(p, v vec, s *Shot)) {
	for _, r := range g.cast.shotFilter.All() {
		f(r.A.P, r.B.V, r.C)
	}
}

// EachPickup calls f with the position and the data of every pickup. k is valid during the call.
func (g *Game) EachPickup(f func(p vec, k *Pickup)) {
	for _, r := range g.cast.dropFilter.All() {
		f(r.A.P, r.C)
	}
}

// StatusKinds is the number of statuses: components that only some enemies have.
const StatusKinds = 4

// Statuses returns how many enemies have each status, in the order burning, chilled, elite, shielded.
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

// Omens iterates over the enemies that are announced and have not appeared. An Omen is valid until the next tick, the
// load of a state or [Game.End].
func (g *Game) Omens() iter.Seq[*Omen] {
	return func(yield func(*Omen) bool) {
		for _, o := range g.cast.omens.All() {
			if !yield(o) {
				return
			}
		}
	}
}
