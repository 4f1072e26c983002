package overlay

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/render"
)

// Config configures [New]. The zero Config means the defaults. If a value is out of range, New returns an error.
type Config struct {
	// Keys are the keys of the functions, in the order of the table at [Part]. No key may occur twice; -1 means no key.
	// If all Keys are zero, they are [DefaultKeys]: F1, F2 and so on. If only some Keys are zero, a zero is the key A.
	Keys [render.FunctionKeys]ebiten.Key

	// Corner is the corner of the screen in which the overlay begins. Free, the default, is the corner in which the
	// game draws least. The overlay compares the corners of the whole picture, also with [Overlay.Within]. It chooses
	// the corner when it begins to show something, and keeps the corner until nothing is shown.
	//
	// A tap or click in the corner shows the strip, then strip and tiers, then nothing. NoTap switches this off. With
	// Free, the upper left corner takes taps until the overlay was shown for the first time.
	Corner Corner
	NoTap  bool

	// Scale is the size of the overlay's pixels in pixels of the screen, from 0.5 to 8. 0 selects a size by the screen:
	// the screen's height divided by 720, or the factor of [Overlay.Density] if that is larger. This size is rounded
	// down to a multiple of one half, and is at least 1. On a narrow screen it is at most the width divided by 320, but
	// not below 0.75. On a phone it is larger, see [Overlay.Density].
	Scale float32

	// Top and Bottom are the shares of the screen's height that the overlay leaves to the game, from 0 to below 0.4
	// each. A single panel that does not fit may cover them. [Overlay.Leave] changes them.
	Top, Bottom float32

	// Preset selects how many figures are shown.
	Preset Preset

	// Watch makes the overlay measure while nothing is shown. So a panel shows the meter's whole window as soon as it
	// is opened. The package comment has the cost of a hidden overlay with and without Watch.
	Watch bool

	// Timeline, if it is not nil, lets the player select earlier ticks while the game is frozen. engine.Rewind.Timeline
	// returns one.
	Timeline Timeline

	// Dir is the folder of dumps; it must exist. "" means the working directory.
	Dir string

	// Meter configures the meter.
	Meter meter.Config
}

// A Corner is a corner of the screen.
type Corner uint8

const (
	Free Corner = iota // the corner in which the game draws least, see Config.Corner
	TopLeft
	TopRight
	BottomLeft
	BottomRight
)

func (c Corner) right() bool  { return c == TopRight || c == BottomRight }
func (c Corner) bottom() bool { return c >= BottomLeft }

// A Preset selects how many figures are shown.
type Preset uint8

const (
	Auto    Preset = iota // Full if the screen is at least 960 overlay pixels wide, else Minimal
	Minimal               // half as wide as Full: bars, bytes in use and curves
	Full                  // every figure
)

// window is how long the meter remembers.
func (c *Config) window() time.Duration {
	if c.Meter.Window == 0 {
		return 10 * time.Second
	}
	return c.Meter.Window
}

// DefaultKeys returns the keys of a zero Config.Keys, for a game that changes one of them.
func DefaultKeys() (keys [render.FunctionKeys]ebiten.Key) {
	for i := range keys {
		keys[i] = ebiten.KeyF1 + ebiten.Key(i)
	}
	return keys
}

func (c *Config) fill() error {
	if c.Keys == ([render.FunctionKeys]ebiten.Key{}) {
		c.Keys = DefaultKeys()
	}
	c.Dir = cmp.Or(c.Dir, ".")
	if c.Meter.Now == nil {
		c.Meter.Now = time.Now
	}
	for i, k := range c.Keys {
		if k < -1 || k > ebiten.KeyMax {
			return fmt.Errorf("overlay: Config.Keys[%d] is %d; allowed are Ebitengine's keys, and -1", i, k)
		}
	}
	for i, k := range c.Keys {
		if j := slices.Index(c.Keys[:i], k); j >= 0 && k != -1 {
			return fmt.Errorf("overlay: Config.Keys[%d] and Config.Keys[%d] are both %v; use -1 for none", j, i, k)
		}
	}
	switch {
	case c.Corner > BottomRight:
		return fmt.Errorf("overlay: Config.Corner is %d; allowed are Free to BottomRight", c.Corner)
	case c.Scale != 0 && !(c.Scale >= 0.5 && c.Scale <= 8):
		return fmt.Errorf("overlay: Config.Scale is %v; allowed are 0 and 0.5 to 8", c.Scale)
	case !validShare(c.Top) || !validShare(c.Bottom):
		return fmt.Errorf("overlay: Config.Top is %v and Bottom %v; allowed are at least 0 and below 0.4", c.Top, c.Bottom)
	case c.Preset > Full:
		return fmt.Errorf("overlay: Config.Preset is %d; allowed are Auto, Minimal and Full", c.Preset)
	}
	return nil
}

// validShare reports whether a share of the height may be left to the game.
func validShare(v float32) bool { return v >= 0 && v < 0.4 }
