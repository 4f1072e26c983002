// Package cputime measures the processor time of a piece of work, for tests and measurements on a
// machine that other processes use as well.
package cputime

import (
	"runtime"
	"time"
)

// Of runs work and returns the processor time of its thread during the call. The goroutine is locked to
// the thread; time that other threads spend, as those of the collector, is not counted. If the system has
// no such clock, Of returns the time that passed.
func Of(work func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := now()
	work()
	return now() - begin
}

// Process returns the processor time that this process has used on all threads, in user and system mode.
// If the system does not report it, Process returns the time that passed since start-up.
func Process() time.Duration { return process() }

var start = time.Now()

func wall() time.Duration { return time.Since(start) }
