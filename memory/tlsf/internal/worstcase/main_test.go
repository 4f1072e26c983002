package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/strata-go/strata/engine/cmdline"
	"github.com/strata-go/strata/engine/cmdline/cmdtest"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tlsf"
)

func TestMain_ExitsWithWhatTheCommandReturns(t *testing.T) {
	if os.Getenv("STRATA_WORSTCASE_MAIN") != "" {
		os.Args = []string{"worstcase", "-mib", "0"}
		main()
		return
	}
	if runtime.GOOS == "js" {
		t.Skip("no processes")
	}
	cmd := testenv.Command(t, os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(cmd.Environ(), "STRATA_WORSTCASE_MAIN=1")
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.HasPrefix(string(out), "worstcase: -mib 0 ") {
		t.Errorf("exit status %d\n%s", code, out)
	}
}

func TestParse_TheDefaultsAndWhatIsGiven(t *testing.T) {
	for args, want := range map[string]options{
		"":                               {mib: 1, pairs: 10_000, op: "churn"},
		"-mib 2047 -pairs 2 -op worst":   {mib: 2047, pairs: 2, op: "worst"},
		"-mib=1 -pairs=100000 -op=churn": {mib: 1, pairs: 100_000, op: "churn"},
	} {
		if o, err := parse(strings.Fields(args), io.Discard); err != nil || o != want {
			t.Errorf("%q: %+v, %v; want %+v", args, o, err, want)
		}
	}
}

func TestParse_WhatIsWrongIsToldWithWhatIsAllowed(t *testing.T) {
	const allowed = "; allowed are 1 to 2047 MiB, an even number of pairs, churn or worst, and none\n"
	for args, want := range map[string]string{
		"-mib 0":    `worstcase: -mib 0 -pairs 10000 -op "churn" and 0 more arguments` + allowed,
		"-mib 2048": `worstcase: -mib 2048 -pairs 10000 -op "churn" and 0 more arguments` + allowed,
		"-pairs 0":  `worstcase: -mib 1 -pairs 0 -op "churn" and 0 more arguments` + allowed,
		"-pairs 3":  `worstcase: -mib 1 -pairs 3 -op "churn" and 0 more arguments` + allowed,
		"-pairs -2": `worstcase: -mib 1 -pairs -2 -op "churn" and 0 more arguments` + allowed,
		"-op best":  `worstcase: -mib 1 -pairs 10000 -op "best" and 0 more arguments` + allowed,
		"4":         `worstcase: -mib 1 -pairs 10000 -op "churn" and 1 more arguments` + allowed,
	} {
		var usage bytes.Buffer
		if _, err := parse(strings.Fields(args), &usage); !errors.Is(err, cmdline.ErrUsage) || usage.String() != want {
			t.Errorf("%q: %v, %q; want %q", args, err, &usage, want)
		}
	}
	var usage bytes.Buffer
	if _, err := parse([]string{"-size=4"}, &usage); err == nil || !strings.Contains(usage.String(), "-size") || !strings.Contains(usage.String(), "-mib") {
		t.Errorf("%v, %q", err, &usage)
	}
}

// still puts back what quiet changes, for the process that the tests share.
func still(t *testing.T) {
	percent := debug.SetGCPercent(100)
	debug.SetGCPercent(percent)
	t.Cleanup(func() { debug.SetGCPercent(percent) })
}

func TestCommand_ReturnsTheExitStatus(t *testing.T) {
	still(t)
	for op := range ops {
		g, err := prepare(nil, options{mib: 1, op: op})
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("%s: heap 1 MiB, %d live blocks, 200 pairs in Measured\n", op, len(g.live))
		closed(t, g.h)
		var out, fault bytes.Buffer
		if code := command(nil, []string{"-op", op, "-pairs", "200"}, &out, &fault); code != 0 || out.String() != want || fault.Len() > 0 {
			t.Errorf("%d, %q, %q; want %q", code, &out, &fault, want)
		}
		if percent := debug.SetGCPercent(100); percent >= 0 {
			t.Errorf("GOGC was %d while it ran", percent)
		}
		runtime.UnlockOSThread()
	}
	var out, fault bytes.Buffer
	if code := command(nil, []string{"-op", "best"}, &out, &fault); code != 2 || out.Len() > 0 || fault.Len() == 0 {
		t.Errorf("%d, %q, %q", code, &out, &fault)
	}
	fault.Reset()
	if code := command(nil, []string{"-pairs", "2"}, cmdtest.FullDisk{}, &fault); code != 1 || fault.String() != "worstcase: no space left\n" { // it was exit 0
		t.Errorf("%d, %q", code, &fault)
	}
	runtime.UnlockOSThread()
	fault.Reset()
	src := memtest.NewFaulty()
	src.FailAt = 1
	if code := command(src, nil, &out, &fault); code != 1 || out.Len() > 0 || !strings.HasPrefix(fault.String(), "worstcase: ") {
		t.Errorf("%d, %q, %q", code, &out, &fault)
	}
	runtime.UnlockOSThread()
}

func TestQuiet_HoldsTheThreadAndTheCollector(t *testing.T) {
	still(t)
	var trace []byte
	done := make(chan int)
	go func() {
		quiet()
		trace = make([]byte, 100)
		trace = trace[:runtime.Stack(trace, false)]
		done <- debug.SetGCPercent(100)
	}()
	if percent := <-done; percent >= 0 || runtime.GOOS != "js" && !bytes.Contains(trace, []byte("locked to thread")) { // js has one
		t.Errorf("GOGC %d, %s", percent, trace)
	}
}

func TestRun_AHeapThatCannotBeIsAnError(t *testing.T) {
	src := memtest.NewFaulty()
	src.FailAt = 1
	var out bytes.Buffer
	var want *memory.Exhausted
	if err := run(src, &out, options{mib: 1, pairs: 2, op: "worst"}); !errors.As(err, &want) || out.Len() > 0 {
		t.Errorf("%v, %q", err, &out)
	}
}

func TestRun_AHeapThatCannotBeReleasedIsAnError(t *testing.T) {
	src := memtest.NewFaulty()
	src.FailReturns = true
	if err := run(src, io.Discard, options{mib: 1, pairs: 2, op: "worst"}); err == nil {
		t.Error("it is not told")
	}
}

func TestConfig_HasADescriptorForEveryHalfKiB(t *testing.T) {
	for mib, want := range map[uint]tlsf.Config{1: {Reserve: 1 << 20, Blocks: 2048}, 1024: {Reserve: 1 << 30, Blocks: 2 << 20}} {
		if got := config(mib); got != want {
			t.Errorf("%d MiB: %+v, want %+v", mib, got, want)
		}
	}
}

func closed(t *testing.T, h *tlsf.Heap) {
	t.Helper()
	if err := errors.Join(h.Check(), h.Close()); err != nil {
		t.Error(err)
	}
}
