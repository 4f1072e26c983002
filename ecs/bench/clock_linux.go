package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// switches is how often the system has taken the processor away from this thread.
func switches() int64 {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_THREAD, &u) // with these arguments it does not fail
	return int64(u.Nivcsw)
}

// processorTime is what this thread has used, to the nanosecond. What Getrusage says of it lags
// by up to a tick.
func processorTime() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	return time.Duration(ts.Nano())
}

// threadTime is the processor time of f on this thread, without that of the collector on others. The
// caller has locked its thread.
func threadTime(f func()) time.Duration {
	before := processorTime()
	f()
	return processorTime() - before
}

// spent is the processor time of the process during f, including the collector. Other programs do not change it.
func spent(f func()) time.Duration {
	used := func() time.Duration {
		var ts unix.Timespec
		_ = unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts) // with these arguments it does not fail
		return time.Duration(ts.Nano())
	}
	before := used()
	f()
	return used() - before
}

// ownTime is how long f takes by the clock; where the system has taken the processor away
// meanwhile, it is the processor time that f took. The caller has locked its thread.
func ownTime(f func()) time.Duration {
	before, used := switches(), processorTime()
	start := time.Now()
	f()
	took := time.Since(start)
	used = processorTime() - used
	if switches() != before {
		return min(took, used)
	}
	return took
}
