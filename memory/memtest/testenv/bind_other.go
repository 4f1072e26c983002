//go:build !linux && !freebsd

package testenv

import (
	"os/exec"
	"testing"
)

func bind(t testing.TB, cmd *exec.Cmd) { bindByInput(t, cmd) }
