package game

import "github.com/strata-go/strata/demo/level"

// Components are pointer-free and live in off-heap columns. Positions are logical units,
// velocities units per second, times seconds, angles radians.
type (
	// Position is where an entity is, in the world's coordinates.
	Position struct{ P vec }

	// Velocity is where it goes.
	Velocity struct{ V vec }

	// Enemy is what drifters, lancers, swarms and wardens share.
	Enemy struct {
		Kind   level.Enemy
		State  uint8
		HP     int16
		Ribbon uint16  // 1 + its trail's index; 0 for none
		Phase  uint16  // own offset, so that no two wander alike
		Timer  float32 // until the state changes
		Angle  float32
		Flash  float32 // 1 when hit, fades
		Aim    vec     // the direction of a lancer's charge; how the crowd pushes others, in units a second
		Post   uint8   // what it belongs to: the horde, a seal, or a stress run
		Marks  uint16  // 1 + the index of what sticks to it; 0 for nothing
	}

	// Burning hurts, for as long as it lasts.
	Burning struct {
		Left float32
		Next float32 // until it hurts again
	}

	// Chilled slows down.
	Chilled struct{ Left float32 }

	// Elite is larger and harder, and leaves more embers.
	Elite struct{ Worth int16 }

	// Shielded takes hits in its enemy's place, as long as it holds.
	Shielded struct{ HP int16 }

	// Shot is a bullet of the player's or an orb of a warden's.
	Shot struct {
		Life    float32
		Damage  int16
		Hostile bool
	}

	// Pickup lies on the ground until it is collected or fades.
	Pickup struct {
		Kind PickupKind
		Life float32
	}
)

// What an enemy belongs to: 1 to 4 are the guards of a seal.
const (
	postHorde  = 0
	postHeart  = 5
	postStress = 6
)

// PickupKind tells the kinds of pickups apart.
type PickupKind uint8

// The kinds of pickups.
const (
	PickupHull PickupKind = iota
	PickupPower
	PickupScore
	PickupKinds = iota
)

// PickupNames are the kinds' names in the atlas.
var PickupNames = [PickupKinds]string{"pickup_hull", "pickup_power", "pickup_score"}

// The states of a lancer.
const (
	lancerStalk uint8 = iota
	lancerTell
	lancerCharge
	lancerRest
)

// Tells reports whether a lancer is about to charge.
func (e *Enemy) Tells() bool { return e.Kind == level.Lancer && e.State == lancerTell }

// Charges reports whether a lancer is charging.
func (e *Enemy) Charges() bool { return e.Kind == level.Lancer && e.State == lancerCharge }

// breed is what a kind of enemy is like.
type breed struct {
	radius float32
	size   float32 // side of its picture
	hp     int16
	score  int32
	speed  float32
	damage int16
	worth  int16 // in embers
}

var breeds = [level.Kinds]breed{
	level.Drifter: {radius: 9, size: 26, hp: 2, score: 50, speed: 62, damage: 1, worth: 1},
	level.Lancer:  {radius: 10, size: 31, hp: 4, score: 120, speed: 85, damage: 1, worth: 3},
	level.Swarm:   {radius: 6, size: 15, hp: 1, score: 15, speed: 104, damage: 1, worth: 1},
	level.Warden:  {radius: 31, size: 74, hp: 420, score: 2500, speed: 34, damage: 2, worth: 40},
}

// configure sets the breeds of this round: tougher and faster with each.
func (g *Game) configure() {
	g.breeds = breeds
	for i := range g.breeds {
		b := &g.breeds[i]
		b.hp += b.hp * int16(min(g.Round, 20)) / 3
		b.speed = mul(b.speed, 1+mul(float32(min(g.Round, 10)), 0.08))
	}
}

// SizeOf returns the side, in logical units, of an enemy's picture.
func SizeOf(k level.Enemy) float32 { return breeds[k].size }
