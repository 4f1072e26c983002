//go:build !linux

package main

import "time"

// switches is not known here.
func switches() int64 { return 0 }

// ownTime is how long f takes by the clock.
func ownTime(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// threadTime and spent are times by the clock here.
func threadTime(f func()) time.Duration { return ownTime(f) }

func spent(f func()) time.Duration { return ownTime(f) }
