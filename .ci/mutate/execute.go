package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"time"
)

// Limits of a run, in KiB as ulimit has them. Reservations of many GiB are usual and cost nothing. A mutant without
// bound takes writable memory; so do the suite's blocks beyond 4 GiB, which are hardly touched.
const (
	spaceKiB    = 128 << 20
	writableKiB = 6 << 20
)

// outputLimit is what is kept of a run: the rest of an endless loop of prints is dropped.
const outputLimit = 256 << 10

// A clipped buffer keeps the first outputLimit bytes.
type clipped struct{ data []byte }

func (c *clipped) Write(p []byte) (int, error) {
	c.data = append(c.data, p[:min(len(p), outputLimit-len(c.data))]...)
	return len(p), nil
}

// An outcome is how a run of a test binary ended.
type outcome struct {
	passed bool
	why    string // what failed, where it did not pass
	output []byte
	took   time.Duration
	stood  bool // the runner was stopped meanwhile, or the machine asleep: a failure means nothing
}

// The runner looks at the clock every pulse. More than stillness between two looks was a stop
// by a signal, or the sleep of a laptop: the tests may have stood as well.
const (
	pulse     = 100 * time.Millisecond
	stillness = 2 * time.Second
)

// An hourglass is a context that ends after so much time in which the runner itself ran.
type hourglass struct {
	context.Context
	mu    sync.Mutex
	last  time.Time // when the runner was last seen running
	left  time.Duration
	stood bool
}

// newHourglass returns an hourglass, and a function that ends it early.
func newHourglass(parent context.Context, timeout time.Duration) (*hourglass, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	h := &hourglass{Context: ctx, last: time.Now(), left: timeout}
	go func() {
		defer cancel()
		ticker := time.NewTicker(pulse)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if spent, _ := h.look(); spent {
				return
			}
		}
	}()
	return h, cancel
}

// look counts the time since it was called last, and says whether all is spent and whether
// there was a stop.
func (h *hourglass) look() (spent, stood bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	// Round(0): the monotonic clock stands while a machine sleeps.
	gone := max(now.Sub(h.last), now.Round(0).Sub(h.last.Round(0)))
	if h.last = now; gone > stillness {
		h.stood = true
		gone = pulse
	}
	h.left -= gone
	return h.left <= 0, h.stood
}

// execute runs a test binary in dir with the limits, and ends it and all that it started
// after timeout. A failure while the runner stood is no verdict: the binary runs again. The
// error means that it could not be started, or that ctx ended.
func execute(ctx context.Context, bin, dir, temp string, timeout time.Duration, flags ...string) (outcome, error) {
	for range 5 {
		o, err := attempt(ctx, bin, dir, temp, timeout, flags...)
		if err != nil || o.passed || !o.stood {
			return o, err
		}
	}
	return outcome{}, errors.New("the runner was stopped in five runs of one binary")
}

func attempt(ctx context.Context, bin, dir, temp string, timeout time.Duration, flags ...string) (outcome, error) {
	limits := fmt.Sprintf(`ulimit -v %d && ulimit -d %d && ulimit -c 0 && exec "$0" "$@"`, spaceKiB, writableKiB)
	args := append([]string{"-c", limits, bin, "-test.failfast", "-test.paniconexit0"}, flags...)
	timed, cancel := newHourglass(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(timed, "sh", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "STRATA_TEST=full", "TMPDIR="+temp)
	var out clipped
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	start := time.Now()
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left behind, if anything
	}
	spent, stood := timed.look()
	o := outcome{output: out.data, took: time.Since(start), stood: stood}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return o, ctx.Err()
	case spent:
		o.why = fmt.Sprintf("timeout after %s", timeout.Round(time.Second))
	case err == nil:
		o.passed = true
	case errors.As(err, &exit), errors.Is(err, exec.ErrWaitDelay):
		o.why = failure(out.data)
	default:
		return o, err
	}
	return o, nil
}

var failures = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)|^(panic: .*|fatal error: .*|unexpected fault .*|SIG[A-Z]+: .*)$`)

// failure names the first test that failed, or what ended the process.
func failure(output []byte) string {
	m := failures.FindSubmatch(output)
	switch {
	case m == nil:
		return "exit status"
	case len(m[1]) > 0:
		return string(m[1])
	}
	return oneLine(string(m[2]))
}
