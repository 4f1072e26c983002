package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// built is the program that the tests start. It is linked once for all of them.
var built struct {
	once     sync.Once
	dir, exe string
	said     []byte
	err      error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		if err := os.RemoveAll(built.dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// program returns the demo as it is shipped.
func program(t *testing.T) string {
	t.Helper()
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
