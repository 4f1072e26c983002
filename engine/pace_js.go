package engine

import "time"

// defaultWorkers is 1 in a browser, where all goroutines share one thread.
const defaultWorkers = 1

// pace is how many bytes of a PNG are decoded at a stretch: about a millisecond's work.
const pace = 8 << 10

// breathe lets the browser draw. Yielding to other goroutines would not: the event loop runs
// only when every goroutine sleeps.
func breathe() { time.Sleep(time.Millisecond) }
