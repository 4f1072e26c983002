package main

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/memory/trace"
)

// counted reads a trace and counts its events by kind and by tier. It returns the error at its end, nil if it has one.
func counted(t *testing.T, path string) (kinds map[trace.Kind]int, inTier [tiers.Count + 1]int, err error) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := trace.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if r.Header().Unit != "tick" {
		t.Errorf("header %+v", r.Header())
	}
	kinds = map[trace.Kind]int{}
	for {
		e, err := r.Next()
		if err == io.EOF {
			return kinds, inTier, nil
		}
		if err != nil {
			return kinds, inTier, err
		}
		kinds[e.Kind]++
		inTier[e.Tier]++
	}
}

func TestTrace_HasEveryTickAndTier(t *testing.T) {
	testenv.Long(t)
	path := filepath.Join(t.TempDir(), "run.trace")
	code, with, stderr := demo("-headless", "-ticks", "200", "-seed", "7", "-heat", "10", "-hash", "-trace", path)
	if code != 0 {
		t.Fatal(stderr)
	}
	_, without, _ := demo("-headless", "-ticks", "200", "-seed", "7", "-heat", "10", "-hash")
	_, with, _ = strings.Cut(with, "hash ")
	if _, without, _ = strings.Cut(without, "hash "); with == "" || with != without {
		t.Errorf("hash %q with a trace, %q without", with, without)
	}
	kinds, inTier, err := counted(t, path)
	if err != nil || kinds[trace.Tick] < 200 || kinds[trace.Alloc] < 1000 || kinds[trace.Free] < 1000 || kinds[trace.Level] < 1 {
		t.Errorf("%v, %v", kinds, err)
	}
	for tier := range tiers.Tier(tiers.Count) {
		if inTier[tier+1] == 0 {
			t.Errorf("no event of the %s tier", tier)
		}
	}
}

// A killed run leaves a trace that is readable up to its last chunk.
func TestTrace_KilledRunIsReadable(t *testing.T) {
	testenv.Long(t)
	path := filepath.Join(t.TempDir(), "run.trace")
	cmd := testenv.Command(t, program(t), "-headless", "-ticks", "100000000", "-seed", "7", "-config", "none", "-trace", path)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for grown, last := 0, int64(0); grown < 4; time.Sleep(time.Millisecond) {
		if info, err := os.Stat(path); err == nil && info.Size() > last {
			last = info.Size()
			grown++
		}
		select {
		case <-t.Context().Done():
			t.Fatal("the file does not grow")
		default:
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	kinds, _, err := counted(t, path)
	if !errors.Is(err, trace.ErrTruncated) || kinds[trace.Tick] == 0 || kinds[trace.Alloc] == 0 {
		t.Errorf("%v, %v", kinds, err)
	}
}

func TestTrace_IsRefusedWhereItCannotWork(t *testing.T) {
	o := &options{trace: tracing{path: "x"}}
	if line := o.checkMemory(nil, true); !strings.Contains(line, "a browser cannot") || strings.Contains(line, "\n") {
		t.Errorf("in a browser: %q", line)
	}
	o.mem.Store = session.StoreGoHeap
	if line := o.checkMemory(nil, false); !strings.Contains(line, "-mem tiers") {
		t.Errorf("on the Go heap: %q", line)
	}
	if code, _, stderr := demo("-headless", "-trace", ""); code != 2 || !strings.Contains(stderr, "-trace: a name is needed") {
		t.Errorf("exit %d, %q", code, stderr)
	}
	bad := filepath.Join(t.TempDir(), "no", "x.trace")
	if code, _, stderr := demo("-headless", "-trace", bad); code != 1 || !strings.Contains(stderr, "cannot write "+bad) {
		t.Errorf("exit %d, %q", code, stderr)
	}
}

func TestTrace_FullDiskIsReportedAtTheEnd(t *testing.T) {
	testenv.Long(t)
	path := filepath.Join(t.TempDir(), "run.trace")
	o := &options{trace: tracing{path: path}, headless: true, ticks: 60, seed: 7, realm: "ember", particles: 1000, stderr: io.Discard}
	if err := o.trace.open(); err != nil {
		t.Fatal(err)
	}
	if err := o.trace.file.Close(); err != nil { // every write fails
		t.Fatal(err)
	}
	if r, err := o.unseen(); err != nil || r.Ticks != 60 {
		t.Fatalf("the game did not go on: %v", err)
	}
	if err := o.trace.close(); !errors.Is(err, os.ErrClosed) || !strings.Contains(err.Error(), path+" is not complete") {
		t.Error(err)
	}
}

// The profile does not change the game, and its sums are those of the tiers: .ci/profile reads them.
func TestProfile_IsWrittenAsTheRunEnds(t *testing.T) {
	testenv.Long(t)
	path := filepath.Join(t.TempDir(), "run.pb.gz")
	args := []string{"-headless", "-ticks", "200", "-heat", "10", "-seed", "7", "-hash"}
	_, without, _ := demo(args...)
	code, with, stderr := demo(append(args, "-profile", path)...)
	_, with, _ = strings.Cut(with, "hash ")
	if _, without, _ = strings.Cut(without, "hash "); code != 0 || with == "" || with != without {
		t.Errorf("hash %q with a profile, %q without; %s", with, without, stderr)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	for _, want := range []string{"inuse_space", "tier slab", "tier level", "tag ", "pool ", "demo/game."} {
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("error %v; the profile lacks %q", err, want)
		}
	}
	if code, _, stderr := demo("-headless", "-profile", ""); code != 2 || !strings.Contains(stderr, "-profile: a name is needed") {
		t.Error(code, stderr)
	}
}
