package testenv

import (
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// role makes this test binary a parent that is killed, or its child.
const role = "STRATA_TESTENV_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "child":
		fmt.Println("child runs")
		time.Sleep(10 * time.Minute)
	default:
		os.Exit(m.Run())
	}
}

// self returns the command of a test binary in a role. Its output ends when the last process that
// inherited it has ended.
func self(t *testing.T, cmd *exec.Cmd, as string, out *os.File) *exec.Cmd {
	t.Helper()
	cmd.Env = append(cmd.Environ(), role+"="+as)
	cmd.Stdout, cmd.Stderr = out, out
	return cmd
}

// endOf returns what was written to r until its end.
func endOf(t *testing.T, r io.Reader) string {
	t.Helper()
	text := make(chan string, 1)
	go func() { b, _ := io.ReadAll(r); text <- string(b) }()
	return Receive(t, "the child ends with its parent", text)
}

func needProcesses(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "js" {
		t.Skip("no processes")
	}
}

// It starts a child in one of the two ways and waits until it is killed. It does nothing except in
// a child of TestCommand_ChildEndsWithAKilledParent.
func TestParent_WaitsForItsChild(t *testing.T) {
	how := os.Getenv("STRATA_TESTENV_BIND")
	if how == "" {
		return
	}
	cmd := Command(t, os.Args[0])
	if how == "input" {
		cmd.SysProcAttr, cmd.Env = nil, nil
		bindByInput(t, cmd)
	}
	_ = self(t, cmd, "child", os.Stdout).Run()
}

func TestCommand_ChildEndsWithAKilledParent(t *testing.T) {
	needProcesses(t)
	for _, how := range []string{"default", "input"} {
		t.Run(how, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			cmd := Command(t, os.Args[0], "-test.run=^TestParent_WaitsForItsChild$")
			cmd.Env = append(cmd.Environ(), "STRATA_TESTENV_BIND="+how)
			cmd.Stdout, cmd.Stderr = w, w
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			w.Close()
			begun := make([]byte, len("child runs"))
			if _, err := io.ReadFull(r, begun); err != nil || string(begun) != "child runs" {
				t.Fatalf("%q, %v", begun, err)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			endOf(t, r)
		})
	}
}

func TestCommand_EndsWithItsTest(t *testing.T) {
	needProcesses(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	t.Run("inner", func(t *testing.T) {
		if err := self(t, Command(t, os.Args[0]), "child", w).Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
	})
	endOf(t, r)
}

// A recorder is a test that fails without failing this one, with a deadline.
type recorder struct {
	testing.TB
	said strings.Builder
	end  time.Time
}

func (r *recorder) Helper()                           {}
func (r *recorder) Errorf(format string, args ...any) { fmt.Fprintf(&r.said, format, args...) }
func (r *recorder) Deadline() (time.Time, bool)       { return r.end, true }

func TestCommand_IsKilledAtItsLimitAndSaysSo(t *testing.T) {
	needProcesses(t)
	r := &recorder{TB: t, end: time.Now().Add(margin + time.Second)}
	cmd := self(t, Command(r, os.Args[0]), "child", nil)
	if err := cmd.Run(); err == nil || !strings.Contains(r.said.String(), "killed at its limit") {
		t.Errorf("%v, %q", err, &r.said)
	}
}

func TestFull_KnowsItsThreeValues(t *testing.T) {
	for value, want := range map[string][2]bool{"": {}, "full": {true, false}, "night": {true, true}} {
		t.Setenv(Variable, value)
		if got := [2]bool{Full(), Night()}; got != want {
			t.Errorf("%q: Full, Night: %v, want %v", value, got, want)
		}
		skipped := false
		t.Run("longest", func(t *testing.T) {
			defer func() { skipped = t.Skipped() }()
			Longest(t)
		})
		if skipped == want[1] {
			t.Errorf("%q: Longest skips: %v", value, skipped)
		}
	}
	for name, f := range map[string]func() bool{"Full": Full, "Night": Night} {
		t.Setenv(Variable, "ful")
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, `"ful"`) {
					t.Errorf("%s, a misspelled value: %v", name, said)
				}
			}()
			f()
		}()
	}
}

func TestSomeAndStep_SelectAllIfTheLongTestsRun(t *testing.T) {
	all := map[string]int{"a": 1, "b": 2, "c": 3}
	for value, want := range map[string]map[string]int{"": {"a": 1, "c": 3}, "full": all} {
		t.Setenv(Variable, value)
		if got := Some(all, "a", "c"); !maps.Equal(got, want) {
			t.Errorf("%s=%q: %v, want %v", Variable, value, got, want)
		}
		if step := Step(4); (step == 1) != (value == "full") || step != 1 && step != 4 {
			t.Errorf("%s=%q: a step of %d", Variable, value, step)
		}
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, `"d"`) {
					t.Errorf("%s=%q, an unknown key: %v", Variable, value, said)
				}
			}()
			Some(all, "d")
		}()
	}
}

func TestMissing_FailsInCI(t *testing.T) {
	for value, want := range map[string]string{"true": "fatal", "": "skip"} {
		t.Setenv("CI", value)
		e := &ender{TB: t}
		Missing(e, "a display")
		if e.how != want {
			t.Errorf("CI=%q: %s, want %s", value, e.how, want)
		}
	}
}

// An ender notes how it was ended first.
type ender struct {
	testing.TB
	how string
}

func (e *ender) Helper() {}
func (e *ender) Fatalf(string, ...any) {
	if e.how == "" {
		e.how = "fatal"
	}
}
func (e *ender) Skipf(string, ...any) {
	if e.how == "" {
		e.how = "skip"
	}
}

func TestUntil_EndsWithItsConditionOrAtTheDeadline(t *testing.T) {
	n := 0
	Until(t, "three calls", time.Microsecond, func() bool { n++; return n == 3 })
	if n != 3 {
		t.Errorf("%d calls", n)
	}
	for what, wait := range map[string]func(t testing.TB){
		"Until":   func(t testing.TB) { Until(t, "nothing", time.Millisecond, func() bool { return false }) },
		"Receive": func(t testing.TB) { Receive(t, "nothing", make(chan int)) },
	} {
		over := &fatal{recorder: recorder{TB: t, end: time.Now().Add(margin)}}
		func() {
			defer func() { _ = recover() }()
			wait(over)
		}()
		if !strings.Contains(over.said.String(), "nothing") {
			t.Errorf("%s: said %q", what, &over.said)
		}
	}
	sent := make(chan int, 1)
	sent <- 7
	if v := Receive(t, "a number", sent); v != 7 {
		t.Errorf("received %d", v)
	}
}

// A fatal is a recorder whose Fatalf ends the call by a panic.
type fatal struct{ recorder }

func (f *fatal) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	panic(f)
}

var kept [][]byte

func TestLeastObjects_IgnoresWhatOthersAllocate(t *testing.T) {
	calls := 0
	n := LeastObjects(20, func() {
		kept = kept[:0]
		if calls++; calls%3 != 0 { // as if another goroutine allocated
			for range 1000 {
				kept = append(kept, make([]byte, 100))
			}
			return
		}
		for range 7 {
			kept = append(kept, make([]byte, 100))
		}
	})
	if n != 7 {
		t.Errorf("%d objects, want 7", n)
	}
}
