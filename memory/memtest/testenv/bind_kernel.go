//go:build linux || freebsd

package testenv

import (
	"os/exec"
	"syscall"
	"testing"
)

// bind has the kernel kill the child when this process ends.
func bind(_ testing.TB, cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
