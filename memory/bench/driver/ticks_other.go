//go:build !amd64

package main

import "runtime"

// ticksPerNS is 0: single calls are not timed on this processor.
const ticksPerNS = 0.0

func start() uint64                 { return 0 }
func stop() uint64                  { return 0 }
func pause()                        { runtime.Gosched() }
func overhead() uint64              { return 0 }
func elapsed(_, _, _ uint64) uint32 { return 0 }
