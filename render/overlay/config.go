package overlay

import (
	"fmt"
	"slices"
	"time"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/render"
)

// Config configures New. The zero Config means the defaults.
type Config struct {
	// Keys of the functions, in the order in which Help lists them, no two the same; -1 is none. All
	// zero means F1 and those that follow, but a zero among others is the key A.
	Keys [render.FunctionKeys]ebiten.Key

	// Corner is where the overlay begins, and where a tap or click cycles through strip, tiers and off,
	// unless NoTap is set.
	Corner Corner
	NoTap  bool

	// Scale is how many pixels of the screen one of the overlay's has: 0.5 to 8, or 0 for a 720th
	// of its height in halves, at least 1.
	Scale float32

	// Top and Bottom are the shares of the screen's height that stay free for the game, below 0.4 each.
	Top, Bottom float32

	// Preset says how much is shown.
	Preset Preset

	// Watch has the overlay measure while nothing is shown, so that what is opened has ten seconds to
	// show. That costs some microseconds a frame; without it a hidden overlay costs less than one.
	Watch bool

	// Dir is where dumps are written. Default: the working directory.
	Dir string

	// Meter configures the meter.
	Meter meter.Config
}

// A Corner of the screen.
type Corner uint8

const (
	TopLeft Corner = iota
	TopRight
	BottomLeft
	BottomRight
)

func (c Corner) right() bool  { return c&1 != 0 }
func (c Corner) bottom() bool { return c&2 != 0 }

// A Preset says how much is shown.
type Preset uint8

const (
	Auto    Preset = iota // Full where the screen is 960 wide or more, in the overlay's own pixels
	Minimal               // half as wide: bars, bytes in use and curves
	Full                  // every figure
)

// window is how long the meter remembers.
func (c *Config) window() time.Duration {
	if c.Meter.Window == 0 {
		return 10 * time.Second
	}
	return c.Meter.Window
}

func (c *Config) fill() error {
	if c.Keys == ([render.FunctionKeys]ebiten.Key{}) {
		for i := range c.Keys {
			c.Keys[i] = ebiten.KeyF1 + ebiten.Key(i)
		}
	}
	if c.Dir == "" {
		c.Dir = "."
	}
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
	share := func(v float32) bool { return v >= 0 && v < 0.4 }
	switch {
	case c.Corner > BottomRight:
		return fmt.Errorf("overlay: Config.Corner is %d; allowed are TopLeft to BottomRight", c.Corner)
	case c.Scale != 0 && !(c.Scale >= 0.5 && c.Scale <= 8):
		return fmt.Errorf("overlay: Config.Scale is %v; allowed are 0 and 0.5 to 8", c.Scale)
	case !share(c.Top) || !share(c.Bottom):
		return fmt.Errorf("overlay: Config.Top is %v and Bottom %v; allowed are 0 to 0.4", c.Top, c.Bottom)
	case c.Preset > Full:
		return fmt.Errorf("overlay: Config.Preset is %d; allowed are Auto, Minimal and Full", c.Preset)
	}
	return nil
}
