package testenv

import (
	"testing"
	"time"
)

// Deadline is the time at which a test gives up waiting. It is the deadline of the test binary less the time for a report. A busy machine
// delays every event, so a shorter limit would report that as a fault.
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
