package memtest

import (
	"fmt"
	"runtime"
	"testing"
)

// recorder is a testing.TB that remembers why it was ended and ends the goroutine.
type recorder struct {
	testing.TB // nil: only what is overridden is used
	said       string
	failed     bool
	skipped    bool
	cleanups   []func()
}

func (r *recorder) Helper()          {}
func (r *recorder) Failed() bool     { return r.failed }
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *recorder) Errorf(format string, args ...any) {
	r.failed = true
	if len(r.said) < 1<<12 {
		r.said += fmt.Sprintf(format, args...) + "\n"
	}
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Error(args ...any) { r.Errorf("%s", fmt.Sprintln(args...)) }
func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprintln(args...)) }

func (r *recorder) Skip(...any) {
	r.skipped = true
	runtime.Goexit()
}

// record runs f as a test would be run, cleanups and all, and returns what it said. A panic
// is a failure.
func record(f func(testing.TB)) *recorder {
	r := &recorder{}
	r.run(func() { f(r) })
	for i := len(r.cleanups) - 1; i >= 0; i-- {
		r.run(r.cleanups[i])
	}
	return r
}

func (r *recorder) run(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				r.Errorf("panic: %v", p)
			}
		}()
		f()
	}()
	<-done
}
