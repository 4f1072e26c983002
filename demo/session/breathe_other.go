//go:build !js

package session

// breathe is nil where goroutines have threads.
var breathe func()
