package tsc

// Start returns the counter. Earlier instructions are complete, and later ones have not begun.
func Start() uint64

// Stop returns the counter after all earlier instructions. Later instructions have not begun.
func Stop() uint64

// Pause tells the processor that the program waits in a loop.
func Pause()
