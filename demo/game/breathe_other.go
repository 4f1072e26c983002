//go:build !js

package game

// breathe is nil where goroutines have threads.
var breathe func()
