package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// asProgram makes the test binary the program.
const asProgram = "STRATA_DEMO_TEST_AS_PROGRAM"

// built is the program that the tests start if the long tests run. It is linked once for all of them.
var built struct {
	once     sync.Once
	dir, exe string
	said     []byte
	err      error
}

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	code := m.Run()
	if built.dir != "" {
		if err := os.RemoveAll(built.dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// program returns the demo as it is shipped if the long tests run, in debug builds and with -short. Otherwise it returns
// this test binary, which plays in the processes that t starts: to link the demo takes four seconds.
func program(t *testing.T) string {
	t.Helper()
	if testenv.Brief() && !testenv.Short() {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv(asProgram, "1")
		return exe
	}
	b := &built
	b.once.Do(func() {
		if b.dir, b.err = os.MkdirTemp("", "strata-demo-test-*"); b.err != nil {
			return
		}
		b.exe = filepath.Join(b.dir, "demo")
		build := testenv.Command(t, "go", "build", "-o", b.exe, ".")
		build.Env = append(build.Environ(), "CGO_ENABLED=0")
		b.said, b.err = build.CombinedOutput()
	})
	if b.err != nil {
		t.Fatalf("%v\n%s", b.err, b.said)
	}
	return b.exe
}
