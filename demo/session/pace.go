package session

import (
	"runtime/debug"

	"github.com/strata-go/strata/memory/page"
)

// OnGoHeap reports whether the memory of tiers is allocated from the Go heap in this build.
func OnGoHeap() bool { return page.Default() == page.Heap() }

// If the tiers are of the Go heap, as in the browser, memory is never returned: the page's linear memory does not
// shrink. A frame leaves some 10 KiB of garbage there, and the tiers, 190 MiB, count as live. At a GOGC of 100 as much
// garbage again would pile up before the collector runs. The tiers contain no pointers, so that a collection is cheap.
const (
	// heapHeadroom is the garbage of a realm before the collector runs: some ten seconds of frames. Single large
	// allocations, as a decoded song or a loaded realm, come on top of it. Elsewhere the manager's default holds.
	heapHeadroom = 8 << 20
	// heapPercent is GOGC: about heapHeadroom, so that an ended realm leaves no more to the next one.
	heapPercent = 4
)

// headroom returns what is given, or heapHeadroom.
func headroom(given int64) int64 {
	if given == 0 {
		return heapHeadroom
	}
	return given
}

// pace lowers GOGC to heapPercent. The returned function restores it, unless it was changed meanwhile.
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
