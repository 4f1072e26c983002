package cputime

import (
	"syscall"
	"time"
)

func now() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_THREAD, &u) != nil {
		return wall()
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
