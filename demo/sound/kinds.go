package sound

import (
	"fmt"

	"github.com/strata-go/strata/demo/sound/cue"
)

// A spec says how the mixer treats a kind.
type spec struct {
	gain   float32 // of the file at its place
	vary   float32 // share by which the pitch may differ, each way
	duck   float32 // share of the music that gives way
	prio   uint8   // who is stolen from: lower ones first
	most   uint8   // voices at once
	each   uint8   // begun per tick, the loudest
	gap    uint8   // ticks before another one may begin
	placed bool    // has a place in the world; menus have none
}

// The table is tuned so that a full horde leaves the ship's own sounds on top: what the player
// must hear (hurt, seal, roar) has the highest priorities and may use few voices. Of what a horde
// makes hundreds of, gaps let through what the voices have time to play: more would only cut each other off.
var specs = [cue.Count]spec{
	cue.Shot:       {gain: 0.34, vary: 0.05, prio: 3, most: 4, each: 1, gap: 2, placed: true},
	cue.Hit:        {gain: 0.30, vary: 0.10, prio: 1, most: 5, each: 1, gap: 3, placed: true},
	cue.BurstSmall: {gain: 0.42, vary: 0.12, prio: 2, most: 8, each: 2, gap: 4, placed: true},
	cue.BurstLarge: {gain: 0.70, vary: 0.08, prio: 5, most: 4, each: 2, gap: 2, placed: true, duck: 0.25},
	cue.Dash:       {gain: 0.50, vary: 0.04, prio: 6, most: 2, each: 1, gap: 4, placed: true},
	cue.Pickup:     {gain: 0.32, vary: 0.03, prio: 3, most: 4, each: 1, gap: 2, placed: true},
	cue.Gift:       {gain: 0.60, prio: 8, most: 2, each: 1, gap: 6, duck: 0.35},
	cue.Hurt:       {gain: 0.80, vary: 0.03, prio: 9, most: 2, each: 1, gap: 6, duck: 0.5},
	cue.Seal:       {gain: 0.85, prio: 9, most: 2, each: 1, gap: 6, placed: true, duck: 0.5},
	cue.Roar:       {gain: 0.90, vary: 0.04, prio: 9, most: 2, each: 1, gap: 10, placed: true, duck: 0.6},
	cue.Spawn:      {gain: 0.40, vary: 0.10, prio: 4, most: 4, each: 2, gap: 2, placed: true},
	cue.Portal:     {gain: 0.60, prio: 7, most: 2, each: 1, gap: 10, placed: true, duck: 0.3},
	cue.Move:       {gain: 0.35, vary: 0.02, prio: 8, most: 2, each: 1, gap: 2},
	cue.Select:     {gain: 0.45, prio: 8, most: 2, each: 1, gap: 2},
	cue.Lightning:  {gain: 0.50, vary: 0.10, prio: 4, most: 4, each: 2, gap: 4, placed: true},
}

// A Realm is one of the three worlds, as far as it is heard.
type Realm uint8

// The realms, in the order in which they are played.
const (
	Ember Realm = iota
	Tide
	Spore
	Realms
)

var realmNames = [Realms]string{"ember", "tide", "spore"}

// String returns the realm's name in file names.
func (r Realm) String() string {
	if r >= Realms {
		return "unknown"
	}
	return realmNames[r]
}

// Layers is how many layers a realm's music has, from calm to full heat.
const Layers = 4

var layerNames = [Layers]string{"calm", "drums", "drive", "heat"}

// EffectFile returns the path of a kind's variant in the assets.
func EffectFile(k cue.Kind, variant int) string {
	return fmt.Sprintf("sound/%s_%d.flac", k, variant)
}

// MusicFile returns the path of a layer of a realm's music in the assets.
func MusicFile(r Realm, layer int) string {
	return fmt.Sprintf("sound/%s_%s.flac", r, layerNames[layer])
}
