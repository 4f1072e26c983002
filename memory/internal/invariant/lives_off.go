//go:build !memdebug && !race

package invariant

import "unsafe"

// Lives is empty outside debug builds.
type Lives struct{}

// Open does nothing.
func (*Lives) Open(base unsafe.Pointer, size uintptr, shift uint) {}

// GenerationAt returns 0.
func (*Lives) GenerationAt(p unsafe.Pointer) uint32 { return 0 }

// SizeAt returns 0.
func (*Lives) SizeAt(p unsafe.Pointer) uintptr { return 0 }

// BeginAt does nothing.
func (*Lives) BeginAt(p unsafe.Pointer, size uintptr) {}

// Begin does nothing.
func (*Lives) Begin(g, size uintptr) {}

// Prepare does nothing.
func (*Lives) Prepare(end uintptr) {}

// Resize does nothing.
func (*Lives) Resize(g, size uintptr) {}

// Size returns 0.
func (*Lives) Size(g uintptr) uintptr { return 0 }

// Generation returns 0.
func (*Lives) Generation(g uintptr) uint32 { return 0 }

// LifePage is the number of granules of a page.
const LifePage = 1

// Pages returns 0.
func (*Lives) Pages() uintptr { return 0 }

// Life returns 0.
func (*Lives) Life(g uintptr) uint64 { return 0 }

// SetLife does nothing.
func (*Lives) SetLife(g uintptr, v uint64) {}
