//go:build !js

package sound

import "time"

// The two buffers after the mixer. The system takes up to deviceTime at once, and the player has a little more, so
// that it is never empty. A player that is emptied all the same is enlarged: see supply.
const (
	deviceTime   = 20 * time.Millisecond
	deviceHolds  = deviceTime
	playerFrames = Rate * 24 / 1000
)
