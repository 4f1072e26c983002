package cue

// A Kind is a kind of sound of the game.
type Kind uint8

// The kinds, in the order of Specs. The files of a kind are sound/NAME_N.ogg, with NAME its String and N from 0 to
// Variants()-1.
const (
	Shot Kind = iota
	Hit
	BurstSmall
	BurstLarge
	Dash
	Pickup
	Gift
	Hurt
	Seal
	Roar
	Spawn
	Portal
	Move
	Select
	Lightning
	Death   // of the ship
	Low     // the hull is low: a heartbeat
	Mend    // of the hull
	Mine    // goes off
	Beam    // is on: begins again before it ends
	Fire    // an enemy catches fire
	Frost   // an enemy is chilled
	Fall    // of a warden
	Tell    // a lancer takes aim
	Shield  // breaks
	Splash  // of a shot at a wall
	Collect // an ember
	Count   // their number
)

// A Spec is the name of a kind and how a mixer plays it.
type Spec struct {
	Name     string  // in file names
	Variants int     // files, 1 to 4, played in turn: frequent sounds have several
	Gain     float32 // factor of the volume at strength 1, near the listener
	Vary     float32 // the largest change of pitch up or down, as a share
	Duck     float32 // share by which the music becomes quieter for a moment, 0 to 1
	Prio     uint8   // priority; if no voice is free, the sound replaces one of the lowest priority, unless all are above Prio
	Most     uint8   // voices at once; another sound of the kind replaces the oldest
	Each     uint8   // the most that begin in one tick, the loudest; 1 to 3
	Gap      uint8   // the least ticks between two ticks in which sounds of the kind begin
	Placed   bool    // has a position in the world; sounds of menus have none
}

// The table is tuned so that the ship's own sounds are heard above a full horde. What the player must hear (hurt,
// seal, roar) has the highest priorities and few voices. Sounds that a horde makes by the hundred have gaps, so that
// the voices have time to play them: more would only cut each other off.
var specs = [Count]Spec{
	Shot:       {Name: "shot", Variants: 3, Gain: 0.34, Vary: 0.05, Prio: 3, Most: 4, Each: 1, Gap: 2, Placed: true},
	Hit:        {Name: "hit", Variants: 2, Gain: 0.30, Vary: 0.10, Prio: 1, Most: 5, Each: 1, Gap: 3, Placed: true},
	BurstSmall: {Name: "burst_small", Variants: 2, Gain: 0.42, Vary: 0.12, Prio: 2, Most: 8, Each: 2, Gap: 4, Placed: true},
	BurstLarge: {Name: "burst_large", Variants: 2, Gain: 0.70, Vary: 0.08, Prio: 5, Most: 4, Each: 2, Gap: 2, Placed: true, Duck: 0.15},
	Dash:       {Name: "dash", Variants: 1, Gain: 0.50, Vary: 0.04, Prio: 6, Most: 2, Each: 1, Gap: 4, Placed: true},
	Pickup:     {Name: "pickup", Variants: 1, Gain: 0.32, Vary: 0.03, Prio: 3, Most: 4, Each: 1, Gap: 2, Placed: true},
	Gift:       {Name: "gift", Variants: 1, Gain: 0.60, Prio: 8, Most: 2, Each: 1, Gap: 6, Duck: 0.35},
	Hurt:       {Name: "hurt", Variants: 1, Gain: 0.80, Vary: 0.03, Prio: 9, Most: 2, Each: 1, Gap: 6, Duck: 0.5},
	Seal:       {Name: "seal", Variants: 1, Gain: 0.85, Prio: 9, Most: 2, Each: 1, Gap: 6, Placed: true, Duck: 0.5},
	Roar:       {Name: "roar", Variants: 1, Gain: 0.90, Vary: 0.04, Prio: 9, Most: 2, Each: 1, Gap: 10, Placed: true, Duck: 0.6},
	Spawn:      {Name: "spawn", Variants: 1, Gain: 0.40, Vary: 0.10, Prio: 4, Most: 4, Each: 2, Gap: 2, Placed: true},
	Portal:     {Name: "portal", Variants: 1, Gain: 0.60, Prio: 7, Most: 2, Each: 1, Gap: 10, Placed: true, Duck: 0.3},
	Move:       {Name: "move", Variants: 1, Gain: 0.35, Vary: 0.02, Prio: 8, Most: 2, Each: 1, Gap: 2},
	Select:     {Name: "select", Variants: 1, Gain: 0.45, Prio: 8, Most: 2, Each: 1, Gap: 2},
	Lightning:  {Name: "lightning", Variants: 1, Gain: 0.50, Vary: 0.10, Prio: 4, Most: 4, Each: 2, Gap: 4, Placed: true},
	Death:      {Name: "death", Variants: 1, Gain: 1.00, Prio: 10, Most: 1, Each: 1, Gap: 30, Duck: 0.8},
	Low:        {Name: "low", Variants: 1, Gain: 0.60, Prio: 8, Most: 1, Each: 1, Gap: 30, Duck: 0.2},
	Mend:       {Name: "mend", Variants: 1, Gain: 0.50, Prio: 7, Most: 2, Each: 1, Gap: 6},
	Mine:       {Name: "mine", Variants: 1, Gain: 0.60, Vary: 0.08, Prio: 5, Most: 3, Each: 2, Gap: 3, Placed: true, Duck: 0.1},
	Beam:       {Name: "beam", Variants: 1, Gain: 0.34, Vary: 0.01, Prio: 4, Most: 3, Each: 1, Gap: 10},
	Fire:       {Name: "fire", Variants: 2, Gain: 0.32, Vary: 0.12, Prio: 2, Most: 3, Each: 1, Gap: 6, Placed: true},
	Frost:      {Name: "frost", Variants: 2, Gain: 0.30, Vary: 0.08, Prio: 2, Most: 3, Each: 1, Gap: 6, Placed: true},
	Fall:       {Name: "fall", Variants: 1, Gain: 1.00, Prio: 9, Most: 1, Each: 1, Gap: 20, Placed: true, Duck: 0.7},
	Tell:       {Name: "tell", Variants: 1, Gain: 0.36, Vary: 0.06, Prio: 5, Most: 2, Each: 1, Gap: 20, Placed: true},
	Shield:     {Name: "shield", Variants: 1, Gain: 0.45, Vary: 0.08, Prio: 3, Most: 3, Each: 1, Gap: 4, Placed: true},
	Splash:     {Name: "splash", Variants: 1, Gain: 0.16, Vary: 0.15, Prio: 0, Most: 2, Each: 1, Gap: 4, Placed: true},
	Collect:    {Name: "collect", Variants: 1, Gain: 0.20, Vary: 0.06, Prio: 1, Most: 3, Each: 1, Gap: 4},
}

// Specs returns a copy of the table of all kinds.
func Specs() [Count]Spec { return specs }

// String returns the kind's name in file names, "unknown" for an unknown kind.
func (k Kind) String() string {
	if k >= Count {
		return "unknown"
	}
	return specs[k].Name
}

// Variants returns how many files the kind has, 1 for an unknown kind.
func (k Kind) Variants() int {
	if k >= Count {
		return 1
	}
	return specs[k].Variants
}
