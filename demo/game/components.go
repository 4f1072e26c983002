package game

import "github.com/strata-go/strata/demo/realm"

// Components are pointer-free and live in off-heap columns. Positions are logical units,
// velocities units per second, times seconds, angles radians.
type (
	// Position is where an entity is in the world, in units.
	Position struct{ P vec }

	// Velocity is an entity's velocity, in units a second.
	Velocity struct{ V vec }

	// Enemy has the data that every kind of enemy needs.
	Enemy struct {
		Kind   realm.Enemy
		State  uint8
		HP     int16
		Ribbon uint16  // 1 + the index of its trail; 0 if it has no trail
		Phase  uint16  // a random offset in time, so that enemies move differently
		Timer  float32 // seconds until a lancer may change its state, or until the next ring of a warden's orbs
		Angle  float32
		Flash  float32 // 1 when hit, at least 0.5 when burnt; fades
		Aim    vec     // a lancer's direction of charge; for other kinds the push of the crowd, in units a second
		Post   uint8   // its group: 0 the horde, 1 to 4 the guards of a seal, 5 the guards of the heart, 6 a stress run
		Marks  uint16  // 1 + the index of its list of marks; 0 if it has none
	}

	// Burning damages an enemy until Left, in seconds, has passed.
	Burning struct {
		Left float32
		Next float32 // seconds until the next damage
	}

	// Chilled slows an enemy down, and doubles the damage of hits, until Left, in seconds, has passed.
	Chilled struct{ Left float32 }

	// An Elite enemy is larger and harder. When it falls, it leaves Worth embers more.
	Elite struct{ Worth int16 }

	// Shielded takes the hits on its enemy: each hit lowers HP, and at 0 the shield ends. It does not stop burning.
	Shielded struct{ HP int16 }

	// Shot is a bullet of the player or, if Hostile is true, an orb of a warden.
	Shot struct {
		Life    float32 // seconds until it ends
		Damage  int16
		Hostile bool
	}

	// Pickup lies on the ground until the player collects it, or until Life, in seconds, has passed.
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

// PickupKind is a kind of pickup.
type PickupKind uint8

// The kinds of pickups.
const (
	PickupHull  PickupKind = iota // gives one point of hull
	PickupPower                   // counts as 8 embers
	PickupScore                   // gives points
	PickupKinds = iota
)

// PickupNames are the kinds' names in the atlas.
var PickupNames = [PickupKinds]string{"pickup_hull", "pickup_power", "pickup_score"}
