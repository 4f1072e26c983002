//go:build !js

package realm

// breathe does nothing where goroutines have threads.
func breathe() {}
