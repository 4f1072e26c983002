package testenv

import (
	"math"
	"runtime"
)

// LeastObjects calls f `calls` times, and returns the smallest number of objects that the Go heap allocated during
// one call. The runtime counts the objects of the whole process, so other goroutines may add objects to some calls.
// Objects that f allocates in every call are always counted. calls must be at least 1.
func LeastObjects(calls int, f func()) uint64 {
	var m runtime.MemStats
	least := uint64(math.MaxUint64)
	for range calls {
		runtime.ReadMemStats(&m)
		before := m.Mallocs
		f()
		runtime.ReadMemStats(&m)
		least = min(least, m.Mallocs-before)
	}
	return least
}
