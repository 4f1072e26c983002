package testenv

import (
	"context"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

const (
	// longest is the limit of a child if the test binary has no deadline. With one, the child has
	// until margin before it. Both guard against hanging and are no bounds on speed.
	longest = time.Hour
	margin  = 30 * time.Second

	// drain is how long Wait reads the output of a child that has ended. A grandchild may keep it open.
	drain = 10 * time.Second
)

// Command returns a command for a child process of a test. The child is killed when the test t ends or the test
// binary ends, also if the binary is killed. It is also killed at [Deadline], and the test then fails. Call Command on
// the goroutine of the test, and start the child on the same goroutine.
//
// The caller may set the fields of the command, except Stdin, Cancel and SysProcAttr. Instead of setting SysProcAttr
// call [Group]. To set Env, append to cmd.Environ().
//
// On Linux and FreeBSD the kernel kills the child when the thread that started it ends. The goroutine therefore keeps
// its thread until the test has ended. On other systems Command sets Stdin to a pipe that ends with the test binary.
// The child must link this package, which reads the pipe and ends the child at the end of the pipe.
func Command(t testing.TB, name string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), limit(t))
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = drain
	kill := cmd.Cancel
	cmd.Cancel = func() error {
		if context.Cause(ctx) == context.DeadlineExceeded {
			t.Errorf("killed at its limit: %v", cmd.Args)
		}
		return kill()
	}
	runtime.LockOSThread()
	t.Cleanup(func() {
		stop()
		// A child that nobody has waited for is killed by stop only while a Wait runs.
		if cmd.Process != nil && cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		runtime.UnlockOSThread()
	})
	bind(t, cmd)
	return cmd
}

// limit is how long a child of t may run.
func limit(t testing.TB) time.Duration {
	if d, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if end, ok := d.Deadline(); ok {
			return max(time.Until(end)-margin, time.Second)
		}
	}
	return longest
}
