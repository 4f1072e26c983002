//go:build !memdebug && !race

package invariant

// Lives is empty unless the build debugs.
type Lives struct{}

// Begin does nothing.
func (*Lives) Begin(g, size uintptr) {}

// Resize does nothing.
func (*Lives) Resize(g, size uintptr) {}

// Size returns 0.
func (*Lives) Size(g uintptr) uintptr { return 0 }

// Generation returns 0.
func (*Lives) Generation(g uintptr) uint32 { return 0 }
