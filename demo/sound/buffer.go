//go:build !js

package sound

import "time"

// The two buffers after the mixer. They cover a delay of the game's goroutines by two frames and are too short to be
// heard as a delay.
const (
	deviceTime  = 40 * time.Millisecond
	playerBytes = Rate / 25 * 8 // 40 ms
)
