//go:build !(linux && !android) && !freebsd && !js

package render

// Probe reports why no window can be opened, or nil. This system always has a desktop,
// or Run finds out.
func Probe() error { return nil }

// SoftwareLikely reports whether the renderer is known to be software; here it is not.
func SoftwareLikely() bool { return false }
