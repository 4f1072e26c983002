package cputime

import (
	"syscall"
	"time"
	"unsafe"
)

// threadClock is CLOCK_THREAD_CPUTIME_ID. What getrusage says of a thread is as of the last tick.
const threadClock = 3

func now() time.Duration { return clock(threadClock) }

// clock reads a clock of the kernel; where it has none of this id, or forbids it, wall.
func clock(id uintptr) time.Duration {
	var ts syscall.Timespec
	if _, _, failed := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&ts)), 0); failed != 0 {
		return wall()
	}
	return time.Duration(ts.Nano())
}
