// Package cputime tells tests and measurements how long work took, whoever else uses the machine
// meanwhile.
package cputime

import (
	"runtime"
	"time"
)

// Of runs work and returns the processor time of its goroutine's thread, which nothing else
// runs on until work returns; where the system has no such clock, the time that passed. What
// other threads did for it, the collector's say, is not counted.
func Of(work func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := now()
	work()
	return now() - begin
}

// Process returns the processor time that this process has used so far, on all threads, in the program and
// in the system; where the system does not say, the time that passed since some moment before.
func Process() time.Duration { return process() }

var start = time.Now()

func wall() time.Duration { return time.Since(start) }
