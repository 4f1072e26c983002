package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"time"
)

// Limits of a run, in KiB as ulimit has them. Reservations of many GiB are usual and cost
// nothing; writable memory is what a mutant without bound takes, and what the suite's blocks beyond
// 4 GiB are promised, though they are hardly touched.
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
}

// execute runs a test binary in dir with the limits, and ends it and all that it started
// after timeout. The error means that it could not be started, or that ctx ended.
func execute(ctx context.Context, bin, dir, temp string, timeout time.Duration, flags ...string) (outcome, error) {
	limits := fmt.Sprintf(`ulimit -v %d && ulimit -d %d && ulimit -c 0 && exec "$0" "$@"`, spaceKiB, writableKiB)
	args := append([]string{"-c", limits, bin, "-test.failfast", "-test.paniconexit0"}, flags...)
	timed, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(timed, "sh", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "TMPDIR="+temp)
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
	o := outcome{output: out.data, took: time.Since(start)}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return o, ctx.Err()
	case timed.Err() != nil:
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
