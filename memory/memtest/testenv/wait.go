package testenv

import (
	"testing"
	"time"
)

// Deadline is when a wait of a test is given up. It is the deadline of the test binary less the time
// for a report: a busy machine delays what is waited for, and a shorter limit would call that a fault.
func Deadline(t testing.TB) time.Time { return time.Now().Add(limit(t)) }

// Until calls done every pause until it returns true. It fails the test at Deadline.
func Until(t testing.TB, what string, pause time.Duration, done func() bool) {
	t.Helper()
	for end := Deadline(t); !done(); time.Sleep(pause) {
		if time.Now().After(end) {
			t.Fatalf("still waiting at the deadline of the tests: %s", what)
		}
	}
}

// Receive returns what arrives on a channel. It fails the test at Deadline.
func Receive[T any](t testing.TB, what string, from <-chan T) (v T) {
	t.Helper()
	end := time.NewTimer(limit(t))
	defer end.Stop()
	select {
	case v = <-from:
	case <-end.C:
		t.Fatalf("still waiting at the deadline of the tests: %s", what)
	}
	return v
}
