package game

import "github.com/strata-go/strata/demo/realm"

// Components are pointer-free and live in off-heap columns. Positions are logical units,
// velocities units per second, times seconds, angles radians.
type (
	// Position is where an entity is, in the world's coordinates.
	Position struct{ P vec }

	// Velocity is where it goes.
	Velocity struct{ V vec }

	// Enemy is what drifters, lancers, swarms and wardens share.
	Enemy struct {
		Kind   realm.Enemy
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
