//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A kill at any moment ends the run in order, or before it began: what was asked for is there whole or
// not at all, and nothing else is.
func TestSignals_TwentyRandomKillsLeaveNoStrayFile(t *testing.T) {
	exe := program(t)
	rng := rand.New(rand.NewPCG(7, 7)) // of a fixed seed: what fails can be looked for
	written := 0
	for i := range 20 {
		dir := t.TempDir()
		path := filepath.Join(dir, "out.json")
		cmd := exec.Command(exe, "-headless", "-ticks", "10000000", "-seed", "7", "-hash", "-every", "50", "-stats", path)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rng.Float64() * float64(700*time.Millisecond)))
		sig := []os.Signal{syscall.SIGTERM, syscall.SIGINT}[i%2]
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		err := cmd.Wait()
		entries, rerr := os.ReadDir(dir)
		if rerr != nil {
			t.Fatal(rerr)
		}
		if err != nil { // killed before it had begun to listen
			if len(entries) != 0 || strings.Contains(errs.String(), "ends here") {
				t.Errorf("kill %d: %v, left %v\n%s", i, err, entries, &errs)
			}
			continue
		}
		written++
		data, err := os.ReadFile(path)
		var r report
		if err == nil {
			err = json.Unmarshal(data, &r)
		}
		if err != nil || len(entries) != 1 || !strings.Contains(out.String(), "hash "+r.Hash) {
			t.Errorf("kill %d: %v, left %v\n%s%s", i, err, entries, &out, &errs)
		}
		if !strings.Contains(errs.String(), "the run ends here") {
			t.Errorf("kill %d: not a word: %s", i, &errs)
		}
	}
	if written < 5 {
		t.Errorf("%d of 20 runs had begun: the kills come too early to say anything", written)
	}
}

func TestSignals_EndARunInAWindow(t *testing.T) {
	needDisplay(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "out.json")
	cmd := exec.Command(program(t), "-autopilot", "-config", "none", "-size", "320x180", "-stats", path)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * time.Second)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, &errs)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != "out.json" {
		t.Errorf("%v, %v", entries, err)
	}
}

// -compare ends its run of the moment with itself.
func TestSignals_AComparisonThatIsStoppedLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	cmd := exec.Command(program(t), "-compare", "-ticks", "1000000")
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	var errs bytes.Buffer
	cmd.Stderr = &errs // a run that lived on would hold it open, and Wait with it
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ { // until it has begun
		if left, _ := os.ReadDir(temp); len(left) > 0 {
			break
		}
		if time.Sleep(10 * time.Millisecond); i > 2000 {
			t.Fatal("it does not begin")
		}
	}
	time.Sleep(200 * time.Millisecond)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(errs.String(), "stopped") {
		t.Errorf("%v, %s", err, &errs)
	}
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
