package sound

import "time"

// In a browser the mixer runs between the game's frames, on one thread: there the buffers must
// outlast a slow frame. 0 leaves the device's to the library, which knows the browsers.
const (
	deviceTime  = time.Duration(0)
	playerBytes = Rate / 10 * 8 // 100 ms
)
