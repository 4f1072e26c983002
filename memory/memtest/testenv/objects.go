package testenv

import (
	"math"
	"runtime"
)

// LeastObjects calls f several times and returns the least number of objects of the Go heap that a
// call allocates. The runtime counts the whole process, so that other goroutines and the runtime
// itself disturb some of the calls; what f itself allocates is in each.
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
