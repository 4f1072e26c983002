package stream

import "time"

// defaultWorkers is 1 in a browser, where all goroutines share one thread.
const defaultWorkers = 1

// portion is how many bytes of a file are read between two looks for a cancellation. In a
// browser it is also what is decoded at a stretch: about a millisecond's work of a PNG.
const portion = 8 << 10

// breathe lets the browser draw. Yielding to other goroutines would not: the event loop runs
// only when every goroutine sleeps.
func breathe() { time.Sleep(time.Millisecond) }
