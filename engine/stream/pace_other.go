//go:build !js

package stream

// defaultWorkers keeps most processors for the game; two hide the wait for a disk.
const defaultWorkers = 2

// portion is how many bytes of a file are read between two looks for a cancellation.
const portion = 32 << 10

// breathe does nothing where goroutines have threads.
func breathe() {}
