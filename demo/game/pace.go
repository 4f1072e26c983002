package game

import "runtime/debug"

// Where tiers are of the Go heap themselves, as in the browser, what was once taken of the system stays taken: the page's
// linear memory never shrinks. A frame there leaves some 10 KiB to the collector, and the tiers, 190 MiB, count as live: at a
// GOGC of 100 as much again would be left behind before it ran.
const (
	// heapHeadroom is what a realm may leave behind before the collector runs: some 40 seconds of frames, so that what
	// the page has taken after some minutes it has taken for good. A desk has the manager's default.
	heapHeadroom = 24 << 20
	// heapPercent is GOGC: less than heapHeadroom, which then counts.
	heapPercent = 10
)

// headroom returns what is given, or heapHeadroom.
func headroom(given int64) int64 {
	if given == 0 {
		return heapHeadroom
	}
	return given
}

// pace lowers GOGC to heapPercent. What it returns puts it back, unless somebody has changed it since.
func pace() (unpace func()) {
	was := debug.SetGCPercent(heapPercent)
	if was >= 0 && was < heapPercent { // the player wants even less
		debug.SetGCPercent(was)
		return func() {}
	}
	return func() {
		if now := debug.SetGCPercent(was); now != heapPercent {
			debug.SetGCPercent(now)
		}
	}
}
