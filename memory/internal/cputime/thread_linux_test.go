package cputime

import (
	"syscall"
	"testing"
	"time"
)

func TestOf_DoesNotCountOtherThreads(t *testing.T) {
	var other time.Duration
	mine := Of(func() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			other = Of(func() { work(1 << 22) })
		}()
		<-done
	})
	if mine > other/2 {
		t.Errorf("%v, while another thread worked for %v", mine, other)
	}
}

// sharesThread reports whether a goroutine ran on the caller's thread while that waited.
func sharesThread() bool {
	mine, other := syscall.Gettid(), make(chan int)
	for range 100 { // mostly the first does
		go func() { other <- syscall.Gettid() }()
		if <-other == mine {
			return true
		}
		mine = syscall.Gettid()
	}
	return false
}

func TestOf_HasItsThreadAloneUntilItReturns(t *testing.T) {
	Of(func() {
		if sharesThread() {
			t.Error("another goroutine ran on the thread of the work")
		}
	})
	if !sharesThread() {
		t.Error("no goroutine runs on the thread any more")
	}
}

func TestClock_IsWallWhereThereIsNone(t *testing.T) {
	const none = 1 << 20
	before := wall()
	if got := clock(none); got < before || got > wall() {
		t.Errorf("%v, at %v", got, before)
	}
}
