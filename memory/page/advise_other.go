//go:build (unix && !linux) || windows

package page

// The other kernels overcommit reservations of their own accord, or have no such flag.
const mapNoReserve = 0

func adviseHuge([]byte) bool { return false }

func populate([]byte) bool { return false }
