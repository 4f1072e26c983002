package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/engine/cmdline"
	"github.com/strata-go/strata/engine/cmdline/cmdtest"
)

// TestMain has the test binary be the command for spawn.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-child" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestParse_TheDefaultsAndWhatIsGiven(t *testing.T) {
	for args, want := range map[string]options{
		"": {rounds: 5, levels: 6, live: []int{16, 100, 400, 1000}, garbage: 200, limit: 5 * time.Minute},
		"-rounds 1 -levels 1 -live 0 -garbage 0 -limit 1ns": {rounds: 1, levels: 1, live: []int{0}, limit: 1},
		"-live 1200,3 -garbage 1000 -child x":               {rounds: 5, levels: 6, live: []int{1200, 3}, garbage: 1000, limit: 5 * time.Minute, child: "x"},
	} {
		if o, err := parse(strings.Fields(args), io.Discard); err != nil || !reflect.DeepEqual(o, want) {
			t.Errorf("%q: %+v, %v; want %+v", args, o, err, want)
		}
	}
	if o, err := parse([]string{"-live", " 4, 5 "}, io.Discard); err != nil || !reflect.DeepEqual(o.live, []int{4, 5}) {
		t.Errorf("%d, %v", o.live, err)
	}
}

func TestParse_WhatIsWrongIsToldWithWhatIsAllowed(t *testing.T) {
	const allowed = "; allowed are at least one round and one level, 0 to 1000 MB of garbage, and none\n"
	const lives = "; allowed are MiB from 0 to 1200, separated by commas\n"
	for args, want := range map[string]string{
		"-rounds 0":     "pacing: -rounds 0 -levels 6 -garbage 200 and 0 more arguments" + allowed,
		"-levels 0":     "pacing: -rounds 5 -levels 0 -garbage 200 and 0 more arguments" + allowed,
		"-garbage -1":   "pacing: -rounds 5 -levels 6 -garbage -1 and 0 more arguments" + allowed,
		"-garbage 1001": "pacing: -rounds 5 -levels 6 -garbage 1001 and 0 more arguments" + allowed,
		"4":             "pacing: -rounds 5 -levels 6 -garbage 200 and 1 more arguments" + allowed,
		"-limit -1s":    "pacing: -limit -1s; allowed is a time above 0\n",
		"-limit 0":      "pacing: -limit 0s; allowed is a time above 0\n",
		"-live x":       `pacing: -live "x"` + lives,
		"-live 4,":      `pacing: -live ""` + lives,
		"-live 4,-1":    `pacing: -live "-1"` + lives,
		"-live 1201,4":  `pacing: -live "1201"` + lives,
	} {
		var usage bytes.Buffer
		if _, err := parse(strings.Fields(args), &usage); !errors.Is(err, cmdline.ErrUsage) || usage.String() != want {
			t.Errorf("%q: %v, %q; want %q", args, err, &usage, want)
		}
	}
	var usage bytes.Buffer
	if _, err := parse([]string{"-size=4"}, &usage); err == nil || !strings.Contains(usage.String(), "-size") || !strings.Contains(usage.String(), "-garbage") {
		t.Errorf("%v, %q", err, &usage)
	}
}

func TestCommand_AChildPrintsWhatItsCellTook(t *testing.T) {
	var out, fault bytes.Buffer
	code := command([]string{"-child", `{"Mode":"plain Go","Live":2,"Garbage":1,"Levels":1}`}, &out, &fault)
	var r result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || code != 0 || fault.Len() > 0 || r.Peak < 1 || r.CPU <= 0 {
		t.Errorf("%d, %+v, %v, %q", code, r, err, &fault)
	}
}

// A full disk was exit 0.
func TestCommand_AFullDiskFails(t *testing.T) {
	needsProcesses(t)
	var fault bytes.Buffer
	if code := command([]string{"-rounds", "1", "-levels", "1", "-live", "1", "-garbage", "0"}, cmdtest.FullDisk{}, &fault); code != 1 || fault.String() != "pacing: no space left\n" {
		t.Errorf("%d, %q", code, &fault)
	}
}

func TestCommand_SaysWhatFails(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"-rounds", "0"}, 2, "pacing: -rounds 0"},
		{[]string{"-child", "{"}, 1, "pacing: unexpected end of JSON input\n"},
		{[]string{"-child", `{"Mode":"C"}`}, 1, "pacing: a column \"C\"\n"},
	} {
		var out, fault bytes.Buffer
		if code := command(c.args, &out, &fault); code != c.code || out.Len() > 0 || !strings.HasPrefix(fault.String(), c.says) {
			t.Errorf("%q: %d, %q, %q", c.args, code, &out, &fault)
		}
	}
}

func TestCommand_EndsAProcessThatTakesTooLong(t *testing.T) {
	needsProcesses(t)
	var out, fault bytes.Buffer
	code := command([]string{"-rounds", "1", "-live", "7", "-limit", "1ns"}, &out, &fault)
	if want := "pacing: plain Go with 7 MiB live: not done after 1ns\n"; code != 1 || fault.String() != want {
		t.Errorf("%d, %q, want %q", code, &fault, want)
	}
}

func needsProcesses(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "js" {
		t.Skip("no processes")
	}
}

// What the process is given wins over what the host has: a collector that is off there is on.
func TestSpawn_PlaysInAProcessWithItsOwnPacing(t *testing.T) {
	needsProcesses(t)
	t.Setenv("GOGC", "off")
	r, err := spawn(cell{Mode: plain, Live: 4, Garbage: 60, Levels: 1}, time.Hour)
	if err != nil || r.Cycles < 1 || r.InPlay != r.Cycles || r.Peak < 3 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestSpawn_TellsWhatTheProcessSaid(t *testing.T) {
	needsProcesses(t)
	_, err := spawn(cell{Mode: "C"}, time.Hour)
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 || !strings.Contains(err.Error(), `pacing: a column "C"`) {
		t.Error(err)
	}
	if _, err := spawn(cell{Mode: "C"}, 1); err == nil || err.Error() != "not done after 1ns" {
		t.Error(err)
	}
}

func TestSpawn_AProcessThatCannotBeStartedIsAnError(t *testing.T) {
	needsProcesses(t)
	args := os.Args
	os.Args = []string{t.TempDir() + "/none"}
	defer func() { os.Args = args }()
	if _, err := spawn(cell{Mode: plain}, time.Hour); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
