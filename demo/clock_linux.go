package main

import (
	"time"

	"golang.org/x/sys/unix"
)

var threadClock func() time.Duration = ofThread

// ofThread returns what the calling thread has taken of processors.
func ofThread() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
