//go:build unix

package cputime

import (
	"syscall"
	"testing"
)

func TestProcess_IsTheTimeInTheProgramAndInTheSystem(t *testing.T) {
	sum := func() (s float64) {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		for _, part := range []syscall.Timeval{u.Utime, u.Stime} {
			s += float64(part.Sec) + float64(part.Usec)/1e6
		}
		return s
	}
	system := func() bool {
		var u syscall.Rusage
		return syscall.Getrusage(syscall.RUSAGE_SELF, &u) == nil && u.Stime.Nano() > 0
	}
	for !system() { // each look at it takes some
	}
	const rounding = 1e-9
	if before, got, after := sum(), Process().Seconds(), sum(); got < before-rounding || got > after+rounding {
		t.Errorf("%v s, between %v and %v", got, before, after)
	}
}
