//go:build !memdebug && !race

package remote

import "unsafe"

// stamps are empty unless the build debugs.
type stamps struct{}

func newStamps(int) stamps { return stamps{} }

func (stamps) set(int, Generational, unsafe.Pointer) {}

func (stamps) stale(int, Generational, unsafe.Pointer) string { return "" }
