package testenv

import (
	"io"
	"os"
	"os/exec"
	"testing"
)

// endsWithInput tells a child that its standard input is a pipe that ends with its parent.
const endsWithInput = "STRATA_TEST_ENDS_WITH_INPUT"

// bindByInput gives the child a pipe that this process never writes to. The system closes it when
// this process ends. It works for children that link this package.
func bindByInput(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	cmd.Stdin = r
	cmd.Env = append(cmd.Environ(), endsWithInput+"=1")
}

func init() {
	if os.Getenv(endsWithInput) == "" {
		return
	}
	os.Unsetenv(endsWithInput) // a child of this process has another input
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	}()
}
