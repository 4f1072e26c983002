//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// An atomic write would replace a pipe or a device by a file, and the reader of the pipe would wait forever.
func TestStats_APipeOrADeviceIsRefusedAndStays(t *testing.T) {
	dir := t.TempDir()
	pipe, device := filepath.Join(dir, "pipe.json"), filepath.Join(dir, "device.csv")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(os.DevNull, device); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, device} {
		before, _ := os.Lstat(path)
		code, stdout, stderr := demo("-headless", "-ticks", "60", "-stats", path)
		if code != 1 || stdout != "" || !strings.Contains(stderr, "cannot write "+path+": it is a pipe or a device") {
			t.Errorf("exit %d, stdout %.80q, stderr %q", code, stdout, stderr)
		}
		if after, err := os.Lstat(path); err != nil || after.Mode() != before.Mode() {
			t.Errorf("%s was %v and is %v, %v", path, before, after, err)
		}
	}
}
