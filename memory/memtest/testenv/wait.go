package testenv

import (
	"testing"
	"time"
)

// Deadline returns the time at which a test gives up waiting. This time is 30 s before the deadline of the test
// binary, but at least a second from now. If there is no deadline, as in a benchmark, Deadline returns the time an
// hour from now.
func Deadline(t testing.TB) time.Time { return time.Now().Add(limit(t)) }

// Until calls done until done returns true, with a pause between the calls. If done does not return true before
// [Deadline], Until prints `what` and ends the test as failed.
func Until(t testing.TB, what string, pause time.Duration, done func() bool) {
	t.Helper()
	for end := Deadline(t); !done(); time.Sleep(pause) {
		if time.Now().After(end) {
			t.Fatalf("still waiting at the deadline of the tests: %s", what)
		}
	}
}

// Receive returns the next value of the channel `from`, or the zero value if the channel is closed. If no value
// arrives before [Deadline], Receive prints `what` and ends the test as failed.
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
