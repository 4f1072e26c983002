package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain plays the test binary of a mutant where the environment asks for one.
func TestMain(m *testing.M) {
	switch os.Getenv("MUTATE_CHILD") {
	case "":
		os.Exit(m.Run())
	case "passes":
	case "fails":
		fmt.Println("--- FAIL: TestOne (0.00s)\n    --- FAIL: TestOne/two (0.00s)")
		os.Exit(1)
	case "panics":
		panic("lost")
	case "allocates":
		var all [][]byte
		for range 64 { // 16 GiB, not touched
			all = append(all, make([]byte, 256<<20))
		}
		fmt.Println(len(all))
	case "prints":
		for line := bytes.Repeat([]byte("x"), 4096); ; {
			os.Stdout.Write(line)
		}
	case "stopped": // the runner, for longer than it gives this; then the first one fails
		if _, err := os.Stat("again"); err == nil {
			return
		}
		if err := os.WriteFile("again", nil, 0o644); err != nil {
			panic(err)
		}
		time.Sleep(4 * time.Second)
		os.Exit(1)
	case "forks": // the child keeps the pipe
		if err := exec.Command("sleep", "60").Start(); err != nil {
			panic(err)
		}
		time.Sleep(time.Minute)
	}
}

func child(t *testing.T, role string, timeout time.Duration) outcome {
	t.Helper()
	t.Setenv("MUTATE_CHILD", role)
	bin, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o, err := execute(context.Background(), bin, t.TempDir(), t.TempDir(), timeout)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestExecute_TellsHowARunEnded(t *testing.T) {
	for role, want := range map[string]string{
		"fails": "TestOne", "panics": "panic: lost", "allocates": "fatal error: ",
	} {
		if o := child(t, role, time.Minute); o.passed || !strings.HasPrefix(o.why, want) {
			t.Errorf("%s: passed %t, %q", role, o.passed, o.why)
		}
	}
	if o := child(t, "passes", time.Minute); !o.passed {
		t.Errorf("passes: %q", o.why)
	}
}

func TestExecute_ATimeoutEndsAllProcessesAndLongOutput(t *testing.T) {
	for _, role := range []string{"prints", "forks"} {
		o := child(t, role, time.Second)
		if o.passed || !strings.HasPrefix(o.why, "timeout") || o.took > 50*time.Second || len(o.output) > outputLimit {
			t.Errorf("%s: passed %t, %q after %s with %d bytes", role, o.passed, o.why, o.took, len(o.output))
		}
	}
}

func TestExecute_ARunnerThatIsStoppedIsNoKill(t *testing.T) {
	stop := exec.Command("sh", "-c", fmt.Sprintf("sleep 0.5; kill -STOP %[1]d; sleep 3; kill -CONT %[1]d", os.Getpid()))
	stop.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := stop.Start(); err != nil {
		t.Fatal(err)
	}
	defer stop.Wait()
	if o := child(t, "stopped", 2500*time.Millisecond); !o.passed || o.stood {
		t.Errorf("passed %t, stood %t: %q", o.passed, o.stood, o.why)
	}
}

func TestExecute_AnInterruptIsNoVerdict(t *testing.T) {
	t.Setenv("MUTATE_CHILD", "forks")
	bin, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if o, err := execute(ctx, bin, "/", t.TempDir(), time.Minute); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%+v, %v", o, err)
	}
}
