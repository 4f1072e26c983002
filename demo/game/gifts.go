package game

import (
	"fmt"

	"github.com/strata-go/strata/engine"
)

// A Gift changes how the spark plays. Gifts stack: each may be taken up to five times.
type Gift uint8

// The gifts.
const (
	GiftVolley    Gift = iota // wider fire
	GiftSparks                // sparks in orbit, that burn what they touch
	GiftLightning             // jumps from one enemy to the next
	GiftMines                 // lie behind, and go off
	GiftBeam                  // through enemies up to a wall, along the aim
	GiftHaste                 // faster, in flight and in fire
	GiftHull                  // two points of hull more, and a full hull
	GiftFire                  // some shots burn the enemies around the hit
	GiftFrost                 // some shots chill the enemies around the hit
	GiftKinds     = iota
)

// giftMost is how often each can be taken.
const giftMost = 5

// giftHull is what the hull gains from a gift.
const giftHull = 2

// GiftNames and GiftTexts are what the player reads. GiftTexts[0] is for gifts that the player does not have, and
// GiftTexts[1] for gifts that the player has already: [Game.GiftText] selects one of them.
var (
	GiftNames = [GiftKinds]string{"WIDER FIRE", "ORBITING SPARKS", "CHAIN LIGHTNING", "MINES", "BEAM", "HASTE", "SECOND HULL", "WILDFIRE", "FROST"}
	GiftTexts = [2][GiftKinds]string{
		{"one barrel more", "sparks circle the ship", "lightning strikes near", "mines where you fly", "a beam where you aim", "fly and fire faster",
			"more hull, mended", "hits burn all near", "hits slow all near"},
		{"one barrel more", "one spark more", "farther, more often", "three mines more", "a longer beam", "fly and fire faster",
			"more hull, mended", "more hits burn all near", "more hits slow all near"},
	}
)

// A Bag contains the gifts of the player and the embers for the next gift.
type Bag struct {
	// Invariant (11): no gift is taken more than giftMost times, and the three of an offer differ.

	Embers  int              // collected for the next offer
	Need    int              // the number of embers for the next offer
	Gifts   [GiftKinds]uint8 // how often each gift was taken, up to 5
	Offer   [3]Gift          // the gifts to choose from, if Offered is true
	Offered bool
}

const firstNeed = 4 // embers for the first gift: those of the scouts

func (b *Bag) restart() { *b = Bag{Need: firstNeed, Offer: b.Offer} }

func (b *Bag) check() error {
	for k, n := range b.Gifts {
		if n > giftMost {
			return fmt.Errorf("game: invariant 11: gift %d was taken %d times", k, n)
		}
	}
	if o := b.Offer; b.Offered && (o[0] == o[1] || o[1] == o[2] || o[0] == o[2]) {
		return fmt.Errorf("game: invariant 11: %v is offered", o)
	}
	return nil
}

// gather fills the bar. When it is full three gifts are offered, and the rest counts for the next offer.
func (b *Bag) gather(g *Game, n int) {
	b.Embers += n
	g.Gathered += n
	g.win(10 * n)
	b.offer(g)
}

func (b *Bag) offer(g *Game) {
	if b.Offered || b.Embers < b.Need {
		return
	}
	var open [GiftKinds]Gift
	n := 0
	for k := range Gift(GiftKinds) {
		if b.Gifts[k] < giftMost {
			open[n] = k
			n++
		}
	}
	if n < len(b.Offer) {
		return // the player has nearly all
	}
	b.Embers -= b.Need
	b.Need += b.Need/5 + 12
	for i := range b.Offer {
		j := g.rng.Intn(n)
		b.Offer[i] = open[j]
		n--
		open[j] = open[n]
	}
	b.Offered = true
	g.fx.collect(g.Player.P, PickupPower)
}

// choose takes one of the offered gifts. The offer stays until then, and the game continues.
func (b *Bag) choose(g *Game, in *engine.Input) {
	if !b.Offered || !g.Player.Alive {
		return
	}
	for i, button := range [3]engine.Buttons{Choose1, Choose2, Choose3} {
		if !in.Pressed.Has(button) {
			continue
		}
		k := b.Offer[i]
		b.Offered = false
		b.Gifts[k]++
		g.Player.Hull = min(g.Player.Most, g.Player.Hull+1) // every gift mends
		if k == GiftHull {
			g.Player.Most += giftHull
			g.Player.Hull = g.Player.Most
		}
		g.fx.collect(g.Player.P, PickupPower)
		g.Shake(3)
		b.offer(g)
		return
	}
}

// Bar returns how full the bar of embers is, from 0 to 1.
func (b *Bag) Bar() float32 { return clamp(float32(b.Embers)/float32(max(b.Need, 1)), 0, 1) }

// haste is what the gift multiplies speeds by.
func (b *Bag) haste() float32 { return hasteOf(int(b.Gifts[GiftHaste])) }
