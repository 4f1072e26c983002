package realm

import (
	"fmt"
	"strings"

	"github.com/go-gl/mathgl/mgl32"
)

// Enemy is a kind of enemy.
type Enemy uint8

// The kinds of enemies.
const (
	Drifter Enemy = iota // round, follows in curves
	Lancer               // an arrow, aims for a moment and then charges in a straight line
	Swarm                // tiny, flocks by the dozen
	Warden               // large, shoots rings
	enemyKinds
)

var enemyNames = [EnemyKinds]string{"drifter", "lancer", "swarm", "warden"}

// Names are the names of the realms, in the order in which a game plays them. After the last one comes the first.
var Names = [...]string{"ember", "tide", "spore"}

// EnemyKinds is the number of kinds of enemies.
const EnemyKinds = int(enemyKinds)

// String returns the kind's name. The kind's picture has the same name.
func (e Enemy) String() string {
	if int(e) < len(enemyNames) {
		return enemyNames[e]
	}
	return fmt.Sprintf("Enemy(%d)", e)
}

// Color is an opaque colour of a palette, in sRGB.
type Color struct{ R, G, B uint8 }

// String returns the colour in the form #rrggbb.
func (c Color) String() string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// Vec4 returns the components from 0 to 1 with alpha 1, for the GPU.
func (c Color) Vec4() mgl32.Vec4 {
	return mgl32.Vec4{float32(c.R) / 255, float32(c.G) / 255, float32(c.B) / 255, 1}
}

// ParseColor returns the colour of a text in the form #rrggbb. For any other text it returns false.
func ParseColor(s string) (Color, bool) {
	if len(s) != 7 || s[0] != '#' {
		return Color{}, false
	}
	var v [6]uint8
	for i := range v {
		d := strings.IndexByte("0123456789abcdef", s[i+1]|0x20)
		if d < 0 || s[i+1] < '0' {
			return Color{}, false
		}
		v[i] = uint8(d)
	}
	return Color{v[0]<<4 | v[1], v[2]<<4 | v[3], v[4]<<4 | v[5]}, true
}
