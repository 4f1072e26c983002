//go:build !race && !memdebug && (amd64 || arm64)

package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

const limitChild = "STRATA_DEMO_LIMIT"

// TestLimit_Child is the process of TestLimit_RunsOrPrintsOneLine: a short run without a window.
func TestLimit_Child(t *testing.T) {
	if os.Getenv(limitChild) == "" {
		return
	}
	fmt.Println("started with", os.Getenv("MALLOC_ARENA_MAX"), "arena")
	os.Exit(run([]string{"-headless", "-ticks", "10"}, os.Stdout, os.Stderr))
}

// Under a limit on address space the demo plays, with smaller tiers, or prints one line. Go itself does
// not start under some limits, and ends the process before any package is initialized.
func TestLimit_RunsOrPrintsOneLine(t *testing.T) {
	testenv.Long(t)
	started, played := 0, 0
	limits := []int{1_000_000, 1_200_000, 1_450_000, 1_600_000, 1_800_000, 2_000_000, 4_000_000}
	for _, kib := range limits {
		cmd := testenv.Command(t, "sh", "-c", fmt.Sprintf(`ulimit -v %d && exec "$0" -test.run '^TestLimit_Child$'`, kib), os.Args[0])
		cmd.Env = append(cmd.Environ(), limitChild+"=1")
		var out, log bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &log
		err := cmd.Run()
		if !strings.Contains(out.String(), "started with") {
			t.Logf("ulimit -v %d: Go does not start: %v", kib, err)
			continue
		}
		started++
		switch code := cmd.ProcessState.ExitCode(); {
		case !strings.Contains(out.String(), "started with 1 arena"):
			t.Errorf("ulimit -v %d: it has not run itself again: %s", kib, &out)
		case code == 0:
			played++
		case code != 1 || strings.Count(log.String(), "\n") != 1 || !strings.HasPrefix(log.String(), "demo: "):
			t.Errorf("ulimit -v %d: exit code %d, and on standard error\n%.1000s", kib, code, &log)
		}
	}
	if t.Logf("of %d limits %d runs started and %d played", len(limits), started, played); started < 3 || played < 1 {
		t.Error("too few for a test")
	}
}
