package memtest

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// heapRoom is the free bytes that the Go heap of a child has at first. Go begins its heap at a random place in 64 MiB of
// addresses. So one start in sixteen leaves only 4 MiB for the test and its errors.
const heapRoom = 8 << 20

// UnderUlimit runs the calling test again in child processes under a limit on address space. It starts one child for
// each limit of kib, in KiB. If a child fails, the test fails. UnderUlimit returns true in a child, where the caller
// continues with the test. It returns false in the parent, where the caller returns.
//
// With a limit of 800 MiB or more, a child has 8 MiB free in its Go heap, for errors. With a lower limit Go itself may
// not start: the limit is then skipped. In a child Go does not collect garbage, because a collection without free
// address space ends the process.
//
// UnderUlimit is for Unix. In debug builds, which need more memory, and on 32-bit systems it starts no child and
// returns false.
func UnderUlimit(t testing.TB, kib ...int) (inside bool) {
	t.Helper()
	const child, room, low = "STRATA_UNDER_ULIMIT", "STRATA_HEAP_ROOM", 800 << 10
	if os.Getenv(child) == t.Name() {
		debug.SetGCPercent(-1)
		if os.Getenv(room) != "" {
			runtime.KeepAlive(make([]byte, heapRoom))
		}
		runtime.GC()
		return true
	}
	if invariant.Debug || math.MaxUint == math.MaxUint32 {
		return false
	}
	for _, limit := range kib {
		run := fmt.Sprintf(`ulimit -v %d && exec "$0" -test.run "^%s$" -test.v`, limit, t.Name())
		cmd := testenv.Command(t, "sh", "-c", run, os.Args[0])
		cmd.Env = append(cmd.Environ(), child+"="+t.Name())
		if limit >= low {
			cmd.Env = append(cmd.Env, room+"=1")
		}
		out, err := cmd.CombinedOutput()
		said := string(out)
		if err != nil && limit < low && !strings.Contains(said, "=== RUN") {
			t.Logf("ulimit -v %d: Go itself does not start", limit)
			continue
		}
		if err != nil || !strings.Contains(said, "--- PASS: "+t.Name()) {
			t.Errorf("ulimit -v %d: %v\n%.2000s", limit, err, said)
		}
		for line := range strings.Lines(said) {
			if strings.Contains(line, "_test.go:") {
				t.Logf("ulimit -v %d: %s", limit, strings.TrimSpace(line))
			}
		}
	}
	return false
}
