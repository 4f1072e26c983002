package game

import (
	"runtime/debug"

	"github.com/strata-go/strata/memory/page"
)

// OnGoHeap reports whether tiers are of the Go heap on this system.
func OnGoHeap() bool { return page.Default() == page.Heap() }

// Where tiers are of the Go heap themselves, as in the browser, what was once taken of the system stays taken: the page's
// linear memory never shrinks. A frame there leaves some 10 KiB to the collector, and the tiers, 190 MiB, count as live: at a
// GOGC of 100 as much again would be left behind before it ran. They have no pointers, so that a collection is of the few MiB
// beside them.
const (
	// heapHeadroom is what a realm may leave behind before the collector runs: some ten seconds of frames. What comes in
	// one go, as a song that is decoded or a realm that is loaded, comes on top of it. A desk has the manager's default.
	heapHeadroom = 8 << 20
	// heapPercent is GOGC: about heapHeadroom, so that a realm which is left leaves no more to the next one.
	heapPercent = 4
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
