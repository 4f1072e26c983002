//go:build (unix && !linux) || windows

package page

// The other kernels overcommit reservations by default, or have no such flag.
const mapNoReserve = 0

func adviseHuge([]byte) bool { return false }

// discard: MADV_DONTNEED zeroes pages on Linux only.
func discard([]byte) bool { return false }

func populate([]byte) bool { return false }
