//go:build !js

package engine

// defaultWorkers keeps most processors for the game; two hide the wait for a disk.
const defaultWorkers = 2

// pace is how many bytes of a PNG are decoded between two looks for a cancellation.
const pace = portion

// breathe does nothing where goroutines have threads.
func breathe() {}
