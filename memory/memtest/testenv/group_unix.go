//go:build unix

package testenv

import (
	"os/exec"
	"syscall"
)

// Group makes the child the leader of a new process group, for a test that sends a signal to all processes that the
// child has started. Group exists on Unix only.
func Group(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.Setpgid = true
}
