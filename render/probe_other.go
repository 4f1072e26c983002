//go:build !(linux && !android) && !freebsd && !js

package render

// Probe returns nil: on this system only Run can report that no window can be opened.
func Probe() error { return nil }

// SoftwareLikely reports whether the CPU probably renders. On this system the answer is unknown, and the result is
// false.
func SoftwareLikely() bool { return false }
