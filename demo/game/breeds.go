package game

import (
	"slices"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

// A breed is what a kind of enemy is like: all that the rules and the eye want to know of it. Each kind has a file of
// its own, enemy_NAME.go, which registers it.
type breed struct {
	radius float32
	size   float32 // side of its picture
	hp     int16
	score  int
	speed  float32
	damage int16
	worth  int16 // in embers
	move   func(w *walk, p *Position, v *Velocity, e *Enemy)
	crowd  crowding
	boss   bool // larger than the grid's cells, and the ring of a seal does not end it

	trail  int    // points of the longest that one of them has; 0 is none
	keen   bool   // the trail grows in each tick, not in every fourth
	wide   bool   // it, or its trail, is seen from further away
	text   string // what it does, in a few words
	look   Look
	core   int     // of the palette, its core's colour
	glare  float32 // how far a hit whitens it
	guards int     // in a seal's garrison every so many is of this kind; 0 is none

	// How it takes hits, and falls.
	kick   float32 // share of a shot's speed that it takes on
	drops  float32 // chance of leaving something, in a horde that is not crowded
	faint  bool    // its burst is a small one
	freeze int     // ticks that the game stands still
	shake  float32

	// How much the autopilot fears it, and from how far.
	fear, reach float32

	spawns []spawn // its lines of the table, see spawnTable
}

// A Look has the brightness and the motion of a kind of enemies. From and To are two colours of the body, as indices
// from 0 in the palette of the realm. Mix is the share of To in the body's colour.
type Look struct {
	From, To    int
	Mix         float32
	Glow, Wide  float32 // the halo: its light, and its size as a factor of the picture's
	Swell, Beat float32 // the share by which the picture grows and shrinks, and the speed, in radians a second
}

// A crowding is what somebody does of whom the others push.
type crowding uint8

const (
	yields crowding = iota // feels the push now and then, and keeps it in Aim
	aims                   // feels it in each tick: its Aim is taken
	stands                 // is pushed by nobody
)

var (
	breeds [realm.EnemyKinds]breed
	// spawnTable is what comes at what heat: by heat, and there the most frequent first.
	spawnTable []spawn
)

// register makes a breed known. It is called while the package is initialised: whatever the order, the tables are the
// same.
func register(k realm.Enemy, b breed) {
	if breeds[k].move != nil {
		panic("game: two breeds of " + k.String())
	}
	breeds[k] = b
	for _, s := range b.spawns {
		s.Kind = k
		spawnTable = append(spawnTable, s)
	}
	slices.SortFunc(spawnTable, func(a, b spawn) int {
		switch {
		case a.Heat != b.Heat && a.Heat < b.Heat:
			return -1
		case a.Heat != b.Heat:
			return 1
		case a.Weight != b.Weight:
			return int(b.Weight) - int(a.Weight)
		}
		return int(a.Kind) - int(b.Kind)
	})
}

// configure sets the breeds of this round: tougher and faster with each.
func (h *horde) configure(round int) {
	h.breeds = breeds
	for i := range h.breeds {
		b := &h.breeds[i]
		b.hp += b.hp * int16(min(round, 20)) / 3
		b.speed = mul(b.speed, 1+mul(float32(min(round, 10)), 0.08))
	}
}

// SizeOf returns the side of the picture of a kind of enemies, in logical units.
func SizeOf(k realm.Enemy) float32 { return breeds[k].size }

// CoreOf returns the colour of the core of a kind of enemies, as an index from 0 in the palette of the realm.
func CoreOf(k realm.Enemy) int { return breeds[k].core }

// GlareOf returns how white a hit makes a kind of enemies, from 0 to 1. The value is low for kinds that are hit all the
// time, so that they keep their colour.
func GlareOf(k realm.Enemy) float32 { return breeds[k].glare }

// LookOf returns the look of a kind of enemies.
func LookOf(k realm.Enemy) Look { return breeds[k].look }

// TextOf returns a few words on what a kind of enemies does.
func TextOf(k realm.Enemy) string { return breeds[k].text }

// guardOf returns the kind of a garrison's i-th: of those whose turn it is, the rarest.
func guardOf(i int) realm.Enemy {
	kind, every := realm.Drifter, 0
	for k := range breeds {
		if n := breeds[k].guards; n > every && i%n == 0 {
			kind, every = realm.Enemy(k), n
		}
	}
	return kind
}

// crowded moves an enemy as the crowd of its cell would have it.
func (w *walk) crowded(gr *grid, k int, from vec, p *Position, e *Enemy) {
	switch breeds[e.Kind].crowd {
	case stands:
	case aims:
		p.P = engine.MulAdd(p.P, gr.jostle(k, from), w.pace)
	default:
		if w.turn(e)%w.every == w.every/2 {
			e.Aim = gr.jostle(k, from)
		}
		p.P = engine.MulAdd(p.P, e.Aim, w.pace)
	}
}
