package sound

import "time"

// In a browser the mixer runs between the game's frames, on one thread: there the buffers must last longer than a
// slow frame. 0 selects the library's default for browsers.
const (
	deviceTime  = time.Duration(0)
	playerBytes = Rate / 10 * 8 // 100 ms
)
