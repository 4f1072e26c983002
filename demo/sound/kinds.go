package sound

import (
	"fmt"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/sound/cue"
)

// specs is how the mixer plays the kinds.
var specs = cue.Specs()

// A Realm is the index of a realm in realm.Names.
type Realm uint8

// Realms is the number of realms.
const Realms = Realm(len(realm.Names))

// String returns the realm's name in file names, "unknown" for an unknown realm.
func (r Realm) String() string {
	if r >= Realms {
		return "unknown"
	}
	return realm.Names[r]
}

// Layers is how many layers a realm's music has, from calm to full heat.
const Layers = 4

var layerNames = [Layers]string{"calm", "drums", "drive", "heat"}

// EffectFile returns the path of a kind's sound in the assets. Variants count from 0. The path of an unknown kind or
// variant has no file.
func EffectFile(k cue.Kind, variant int) string {
	return fmt.Sprintf("sound/%s_%d.ogg", k, variant)
}

// MusicFile returns the path of a layer of a realm's music in the assets. The path of an unknown realm has no file. layer
// must be 0 to Layers-1: otherwise MusicFile panics.
func MusicFile(r Realm, layer int) string {
	return fmt.Sprintf("sound/%s_%s.ogg", r, layerNames[layer])
}
