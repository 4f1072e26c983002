package realm

import "time"

var breathed time.Time

// breathe lets the browser draw, where all goroutines share one thread: once in four milliseconds of work.
func breathe() {
	if time.Since(breathed) > 4*time.Millisecond {
		time.Sleep(time.Millisecond)
		breathed = time.Now()
	}
}
