package session

import "time"

var breathed time.Time

// breathe lets the browser draw while a realm is built: all goroutines share one thread there. It sleeps once in
// four milliseconds of work.
func breathe() {
	if time.Since(breathed) > 4*time.Millisecond {
		time.Sleep(time.Millisecond)
		breathed = time.Now()
	}
}
