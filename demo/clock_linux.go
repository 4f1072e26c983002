package main

import (
	"syscall"
	"time"
	"unsafe"
)

var threadClock func() time.Duration = ofThread

// ofThread returns the processor time that the calling thread has used.
func ofThread() time.Duration {
	const threadCPU = 3 // CLOCK_THREAD_CPUTIME_ID
	var t syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, threadCPU, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		return 0
	}
	return time.Duration(t.Nano())
}
