package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/engine/cmdline"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/plan/internal/hard/instances"
)

// small are three buffers that fit side by side at any time.
const small = "id,lower,upper,size\n0,0,4,100\n1,2,6,50\n2,4,9,100\n"

func file(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMain_ExitsWithWhatTheCommandReturns(t *testing.T) {
	if os.Getenv("STRATA_HARD_MAIN") != "" {
		os.Args = []string{"hard", "-time", "-1s"}
		main()
		return
	}
	if runtime.GOOS == "js" {
		t.Skip("no processes")
	}
	cmd := testenv.Command(t, os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(cmd.Environ(), "STRATA_HARD_MAIN=1")
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.HasPrefix(string(out), "hard: -time -1s;") {
		t.Errorf("exit status %d\n%s", code, out)
	}
}

func TestParse_TheDefaultsAndWhatIsGiven(t *testing.T) {
	for args, want := range map[string]options{
		"":                        {limit: 5 * time.Second, data: "memory/plan/testdata/minimalloc", files: []string{}},
		"-time 0":                 {data: "memory/plan/testdata/minimalloc", files: []string{}},
		"-time 1ns -data x a.csv": {limit: 1, data: "x", files: []string{"a.csv"}},
	} {
		if o, err := parse(strings.Fields(args), io.Discard); err != nil || !reflect.DeepEqual(o, want) {
			t.Errorf("%q: %+v, %v; want %+v", args, o, err, want)
		}
	}
}

func TestParse_WhatIsWrongIsToldWithWhatIsAllowed(t *testing.T) {
	for args, want := range map[string]string{
		"-time -1ns": "hard: -time -1ns; allowed is a time, or 0 for as many steps as Exact takes by itself\n",
	} {
		var usage bytes.Buffer
		if _, err := parse(strings.Fields(args), &usage); !errors.Is(err, cmdline.ErrUsage) || usage.String() != want {
			t.Errorf("%q: %v, %q; want %q", args, err, &usage, want)
		}
	}
	var usage bytes.Buffer
	if _, err := parse([]string{"-steps=4"}, &usage); err == nil || !strings.Contains(usage.String(), "-steps") || !strings.Contains(usage.String(), "-data") {
		t.Errorf("%v, %q", err, &usage)
	}
}

func TestCommand_ReturnsTheExitStatus(t *testing.T) {
	dir := t.TempDir()
	good := file(t, dir, "small.csv", small)
	bad := file(t, dir, "bad.csv", "id,lower,upper,size\n0,4,4,100\n") // dies as it is born
	missing := filepath.Join(dir, "missing.csv")
	for _, c := range []struct {
		args []string
		code int
		out  []string // begin of each line
		says string
	}{
		{[]string{good}, 0, []string{"instance  ", "small.csv  "}, ""},
		{[]string{good, good}, 0, []string{"instance  ", "small.csv  ", "small.csv  "}, ""},
		{[]string{"-time", "x"}, 2, nil, "-time"},
		{[]string{missing, good}, 1, []string{"instance  "}, "hard: open " + missing},
		{[]string{good, bad, good}, 1, []string{"instance  ", "small.csv  "}, "hard: bad.csv: plan: "},
		{[]string{"-data", dir}, 1, nil, "hard: -data " + dir + ": there is no .csv.gz\n"},
		{[]string{"-data", filepath.Join(dir, "[")}, 1, nil, "hard: " + filepath.ErrBadPattern.Error()},
	} {
		var out, fault bytes.Buffer
		code := command(c.args, &out, &fault)
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if out.Len() == 0 {
			lines = nil
		}
		ok := len(lines) == len(c.out)
		for i := range min(len(lines), len(c.out)) {
			ok = ok && strings.HasPrefix(lines[i], c.out[i])
		}
		if code != c.code || !ok || !strings.Contains(fault.String(), c.says) || c.says == "" && fault.Len() > 0 {
			t.Errorf("%q: %d\n%s\n%s", c.args, code, &out, &fault)
		}
	}
}

// few has small sets be made for this test.
func few(t *testing.T) {
	all := graphs
	graphs = []int{10, 20}
	t.Cleanup(func() { graphs = all })
}

// public returns a folder with one of MiniMalloc's instances.
func public(t *testing.T) string {
	data, err := os.ReadFile("../../testdata/minimalloc/F.1048576.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file(t, dir, "F.csv.gz", string(data))
	return dir
}

func TestRun_WithoutFilesItTakesThePublicOnesAndThoseThatAreMade(t *testing.T) {
	if want := []int{1000, 10_000, 30_000, 100_000}; !reflect.DeepEqual(graphs, want) {
		t.Errorf("%d, want %d", graphs, want)
	}
	few(t)
	dir := public(t)
	file(t, dir, "README.md", "not one")
	var out bytes.Buffer
	if err := run(&out, options{limit: time.Hour, data: dir}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line)[:4], " "))
	}
	bound := func(n int) string {
		p, err := plan.Fast(instances.Graph(1, n))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("graph %d %d %d", n, n, p.Bound())
	}
	if want := []string{"instance n bound rule", "F 296 1048576 1.3672", bound(10), bound(20)}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q\n%s", got, want, &out)
	}
}

// A broken writer fails at the last of so many writes.
type broken struct{ writes int }

func (b *broken) Write(p []byte) (int, error) {
	if b.writes--; b.writes == 0 {
		return 0, fs.ErrClosed
	}
	return len(p), nil
}

func TestRun_ARowThatCannotBeWrittenIsAnError(t *testing.T) {
	name := file(t, t.TempDir(), "small.csv", small)
	for _, row := range []int{1, 2} {
		if err := run(&broken{1 + row}, options{limit: time.Hour, files: []string{name, name}}); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("row %d: %v", row, err)
		}
	}
}

func TestRun_AMadeSetThatCannotBeWrittenIsAnError(t *testing.T) {
	few(t)
	if err := run(&broken{3}, options{limit: time.Hour, data: public(t)}); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
}
