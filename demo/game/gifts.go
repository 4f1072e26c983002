package game

import (
	"github.com/strata-go/strata/engine"
)

// A Gift changes how the spark plays. Gifts stack: each may be taken several times.
type Gift uint8

// The gifts.
const (
	GiftVolley    Gift = iota // wider fire
	GiftSparks                // sparks in orbit, that burn what they touch
	GiftLightning             // jumps from one enemy to the next
	GiftMines                 // lie behind, and go off
	GiftBeam                  // through everything, along the aim
	GiftHaste                 // faster, in flight and in fire
	GiftHull                  // a second hull
	GiftFire                  // what is hit burns
	GiftFrost                 // what is hit slows down
	GiftKinds     = iota
)

// giftMost is how often each can be taken.
const giftMost = 5

// GiftNames and GiftTexts are what the player reads.
var (
	GiftNames = [GiftKinds]string{"WIDER FIRE", "ORBITING SPARKS", "CHAIN LIGHTNING", "MINES", "BEAM", "HASTE", "SECOND HULL", "WILDFIRE", "FROST"}
	GiftTexts = [GiftKinds]string{"one barrel more", "one spark more", "it jumps farther", "one more at a time", "longer, hotter", "fly and fire faster",
		"more hull, mended", "what you hit burns", "what you hit slows"}
)

func (g *Game) offer() {
	if g.Offered || g.Embers < g.Need {
		return
	}
	var open [GiftKinds]Gift
	n := 0
	for k := range Gift(GiftKinds) {
		if g.Gifts[k] < giftMost {
			open[n] = k
			n++
		}
	}
	if n < len(g.Offer) {
		return // nothing is left to want
	}
	g.Embers -= g.Need
	g.Need += g.Need/5 + 12
	for i := range g.Offer {
		j := g.rng.Intn(n)
		g.Offer[i] = open[j]
		n--
		open[j] = open[n]
	}
	g.Offered = true
	g.fx.collect(g.Player.P, PickupPower)
}

// choose takes one of the gifts that are offered. The offer stands until then, and the game goes on.
func (g *Game) choose(in *engine.Input) {
	if !g.Offered || !g.Player.Alive {
		return
	}
	for i, b := range [3]engine.Buttons{Choose1, Choose2, Choose3} {
		if !in.Pressed.Has(b) {
			continue
		}
		k := g.Offer[i]
		g.Offered = false
		g.Gifts[k]++
		g.Player.Hull = min(g.Player.Most, g.Player.Hull+2) // every gift mends
		if k == GiftHull {
			g.Player.Most += 2
			g.Player.Hull = g.Player.Most
		}
		g.fx.collect(g.Player.P, PickupPower)
		g.Shake(3)
		g.offer()
		return
	}
}

// Bar returns how full the bar of embers is, from 0 to 1.
func (g *Game) Bar() float32 { return clamp(float32(g.Embers)/float32(max(g.Need, 1)), 0, 1) }
