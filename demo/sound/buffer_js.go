package sound

import "time"

// In a browser the mixer runs between the game's frames, on one thread: there the buffers must last longer than a
// frame. With a deviceTime of 0 the library takes 2,048 frames at once, when less than half of them are left.
const (
	deviceTime   = time.Duration(0)
	deviceHolds  = 3 * 1024 * time.Second / Rate
	playerFrames = 2048
)
