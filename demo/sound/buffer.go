//go:build !js

package sound

import "time"

// What waits between the mixer and the ear, in two places: enough for a game's goroutines to be
// late by two frames, and less than is heard as late.
const (
	deviceTime  = 40 * time.Millisecond
	playerBytes = Rate / 25 * 8 // 40 ms
)
