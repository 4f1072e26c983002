//go:build unix

package cputime

import (
	"syscall"
	"time"
)

func process() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it does not fail for this process
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
