//go:build !linux

package main

import "time"

// threadClock is nil: the system does not say what a thread takes.
var threadClock func() time.Duration
