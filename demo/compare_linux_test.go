package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// childrenOf returns the processes that a process has started and that run.
func childrenOf(t *testing.T, pid int) (all []string) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		state, parent := "", 0
		_, rest, _ := strings.Cut(string(text), ") ")
		if _, err := fmt.Sscan(rest, &state, &parent); err == nil && parent == pid && state != "Z" {
			all = append(all, filepath.Dir(path))
		}
	}
	return all
}

// runs reports whether a process of /proc has not ended.
func runs(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "stat"))
	_, rest, _ := strings.Cut(string(text), ") ")
	return err == nil && !strings.HasPrefix(rest, "Z")
}

func TestCompare_AKilledOneLeavesNoRun(t *testing.T) {
	cmd := testenv.Command(t, program(t), "-compare", "-ticks", "100000")
	cmd.Env = append(cmd.Environ(), "TMPDIR="+t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var started []string
	testenv.Until(t, "the comparison starts a run", 10*time.Millisecond, func() bool {
		started = childrenOf(t, cmd.Process.Pid)
		return len(started) > 0
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	testenv.Until(t, "the run ends with the comparison", 10*time.Millisecond, func() bool { return !runs(started[0]) })
}
