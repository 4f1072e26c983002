package level

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-gl/mathgl/mgl32"
)

// Enemy is a kind of enemy.
type Enemy uint8

// The kinds of enemies, as level files name them.
const (
	Drifter Enemy = iota // round, wanders
	Lancer               // an arrow, charges in a straight line after a tell
	Swarm                // tiny, flocks by the dozen
	Warden               // large, shoots rings
)

var enemyNames = []string{"drifter", "lancer", "swarm", "warden"}

// Kinds is how many kinds there are.
const Kinds = int(Warden) + 1

func (e Enemy) String() string { return nameOf(enemyNames, int(e), "Enemy") }

// Pattern is where the enemies of a spawn appear.
type Pattern uint8

// The patterns, as level files name them.
const (
	Edge    Pattern = iota // anywhere along the border of the arena
	Ring                   // on a circle around the player
	Line                   // side by side along one side
	Corners                // in the corners, in turn
	Center                 // in the middle
)

var patternNames = []string{"edge", "ring", "line", "corners", "center"}

func (p Pattern) String() string { return nameOf(patternNames, int(p), "Pattern") }

func nameOf(names []string, i int, kind string) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}

// choose finds word among names; the problem says what is allowed.
func choose(names []string, word, what string) (i int, problem string) {
	if i = slices.Index(names, word); i >= 0 {
		return i, ""
	}
	return 0, fmt.Sprintf("unknown %s %q; allowed: %s", what, word, strings.Join(names, ", "))
}

// Color is an opaque colour of a palette, in sRGB.
type Color struct{ R, G, B uint8 }

// String returns the form that level files use.
func (c Color) String() string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// Vec4 returns the components from 0 to 1 with alpha 1, for the GPU.
func (c Color) Vec4() mgl32.Vec4 {
	return mgl32.Vec4{float32(c.R) / 255, float32(c.G) / 255, float32(c.B) / 255, 1}
}

// parseColor reads #rrggbb.
func parseColor(s string) (Color, bool) {
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
