package testenv

import (
	"testing"
	"time"
)

// Deadline returns the time at which a test gives up waiting. It is 30 s before the deadline of the test binary, but
// at least a second from now. If there is no deadline, it is an hour from now. A busy machine delays every event, so
// a shorter limit would report that as a fault.
func Deadline(t testing.TB) time.Time { return time.Now().Add(limit(t)) }

// Until calls done, with pauses of pause between the calls, until it returns true. At Deadline it ends the test as
// failed and prints what.
func Until(t testing.TB, what string, pause time.Duration, done func() bool) {
	t.Helper()
	for end := Deadline(t); !done(); time.Sleep(pause) {
		if time.Now().After(end) {
			t.Fatalf("still waiting at the deadline of the tests: %s", what)
		}
	}
}

// Receive returns the next value of a channel, or the zero value if the channel is closed. At Deadline it ends the
// test as failed and prints what.
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
