package main

import (
	"syscall"
	"time"
)

// usage is what the system says of this thread.
func usage() (u syscall.Rusage) {
	const thread = 1
	_ = syscall.Getrusage(thread, &u) // with these arguments it does not fail
	return u
}

// switches is how often the system has taken the processor away from this thread.
func switches() int64 { return int64(usage().Nivcsw) }

// ownTime is how long f takes by the clock; where the system has taken the processor away
// meanwhile, it is the processor time that f took. The caller has locked its thread.
func ownTime(f func()) time.Duration {
	before := usage()
	start := time.Now()
	f()
	took := time.Since(start)
	if after := usage(); after.Nivcsw != before.Nivcsw {
		processor := after.Utime.Nano() - before.Utime.Nano() + after.Stime.Nano() - before.Stime.Nano()
		took = min(took, time.Duration(processor))
	}
	return took
}
