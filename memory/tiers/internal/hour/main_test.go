package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/engine/cmdline"
	"github.com/strata-go/strata/engine/cmdline/cmdtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// The test binary is the command where this is set.
const asMain = "STRATA_HOUR_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asMain) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestMain_ExitsWithWhatTheCommandReturns(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("no processes")
	}
	cmd := testenv.Command(t, os.Args[0], "-hours", "25")
	cmd.Env = append(cmd.Environ(), asMain+"=1")
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.HasPrefix(string(out), "hour: -hours 25 ") {
		t.Errorf("exit status %d\n%s", code, out)
	}
}

// flat returns a player of level curves, and what it was asked to play.
func flat(asked *load, samples []sample, err error) player {
	return func(l load) ([]sample, error) {
		*asked = l
		return samples, err
	}
}

func TestParse_TheDefaultsAndWhatIsGiven(t *testing.T) {
	dir := t.TempDir() + "/"
	for args, want := range map[string]options{
		"":          {load: load{Frames: 216_000, Seed: 1, Levels: true, scale: whole}},
		"-hours 24": {load: load{Frames: 24 * 216_000, Seed: 1, Levels: true, scale: whole}},
		"-hours 0.05 -seed 7 -levels=false -svg " + dir + "a.svg -csv " + dir + "b.csv": {load: load{Frames: 10_800, Seed: 7, scale: whole}, svg: dir + "a.svg", csv: dir + "b.csv"},
	} {
		if o, err := parse(strings.Fields(args), io.Discard); err != nil || o != want {
			t.Errorf("%q: %+v, %v; want %+v", args, o, err, want)
		}
	}
}

func TestParse_WhatIsWrongIsToldWithWhatIsAllowed(t *testing.T) {
	const allowed = "; allowed are 0.05 to 24 hours, and none\n"
	for args, want := range map[string]string{
		"-hours 0.049": "hour: -hours 0.049 and 0 more arguments" + allowed,
		"-hours 24.1":  "hour: -hours 24.1 and 0 more arguments" + allowed,
		"-hours NaN":   "hour: -hours NaN and 0 more arguments" + allowed,
		"file":         "hour: -hours 1 and 1 more arguments" + allowed,
	} {
		var usage bytes.Buffer
		if _, err := parse(strings.Fields(args), &usage); !errors.Is(err, cmdline.ErrUsage) || usage.String() != want {
			t.Errorf("%q: %v, %q; want %q", args, err, &usage, want)
		}
	}
	dir := t.TempDir() + "/"
	if err := os.Mkdir(dir+"a.csv", 0o700); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"-hours x": "from 0.05 to 24", "-minutes=3": "allowed: -csv, -hours",
		"-csv " + dir + "a.csv": dir + "a.csv: it is a folder; allowed is a plain file\n", "-svg " + os.DevNull: "the name must end in .svg\n",
		"-svg " + dir + "no/h.svg": "cannot write " + dir + "no/h.svg: ", "-svg " + dir + "s -csv " + dir + "s": "-svg: the name must end in .svg\n",
		"-csv " + dir + strings.Repeat("x", 300) + ".csv": ".csv: file name too long\n",
	} {
		var usage bytes.Buffer
		if _, err := parse(strings.Fields(args), &usage); !errors.Is(err, cmdline.ErrUsage) || !strings.Contains(usage.String(), want) {
			t.Errorf("%v: %v, %q", args, err, &usage)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %d files", err, len(left))
	}
}

func TestCommand_ReturnsTheExitStatus(t *testing.T) {
	level, grown, broken := made(100, map[int]uint64{0: 1000}), made(100, map[int]uint64{0: 1000, 80: 2000}), errors.New("broken")
	for _, c := range []struct {
		args    []string
		samples []sample
		err     error
		code    int
		says    string
	}{
		{nil, level, nil, 0, ""},
		{nil, grown, nil, 1, "hour: committed memory has grown beyond what is allowed\n"},
		{nil, nil, broken, 1, "hour: broken\n"},
		{[]string{"-hours", "0"}, level, nil, 2, "hour: -hours 0 and 0 more arguments; allowed are 0.05 to 24 hours, and none\n"},
	} {
		var out, fault bytes.Buffer
		var asked load
		if code := command(c.args, &out, &fault, flat(&asked, c.samples, c.err)); code != c.code || fault.String() != c.says {
			t.Errorf("%v: %d, %q; want %d, %q", c.args, code, &fault, c.code, c.says)
		}
		if c.code == 0 { // a full disk was exit 0
			fault.Reset()
			if code := command(c.args, cmdtest.FullDisk{}, &fault, flat(&asked, c.samples, c.err)); code != 1 || fault.String() != "hour: no space left\n" {
				t.Errorf("%v: %d, %q", c.args, code, &fault)
			}
		}
		if c.samples != nil && c.code < 2 != strings.Contains(out.String(), "hour 1: committed grew by") {
			t.Errorf("%v\n%s", c.args, &out)
		}
	}
}

func TestRun_WritesTheCurveAndTheNumbers(t *testing.T) {
	dir, samples := t.TempDir(), made(181, map[int]uint64{0: 1 << 20})
	picture, numbers := filepath.Join(dir, "h.svg"), filepath.Join(dir, "h.csv")
	var out bytes.Buffer
	var asked load
	last := io.MultiWriter(cmdtest.Last{T: t, Files: []string{picture, numbers}}, &out)
	if err := run([]string{"-hours", "0.05", "-svg", picture, "-csv", numbers}, last, io.Discard, flat(&asked, samples, nil)); err != nil {
		t.Fatal(err)
	}
	if want := (load{Frames: 10_800, Seed: 1, Levels: true, scale: whole}); asked != want {
		t.Errorf("%+v is played", asked)
	}
	var table bytes.Buffer
	report(&table, asked, samples)
	if err := verdict(&table, samples); err != nil || out.String() != table.String() {
		t.Errorf("%v\n%s\nwant\n%s", err, &out, &table)
	}
	for name, format := range map[string]func(io.Writer, []sample) error{picture: svg, numbers: csv} {
		var want bytes.Buffer
		_ = format(&want, samples)
		file, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(file, want.Bytes()) {
			t.Errorf("%s: %v, %d bytes", name, err, len(file))
		}
		if info, err := os.Stat(name); err != nil || runtime.GOOS == "linux" && info.Mode() != 0o644 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("%v, %d files", err, len(left))
	}
}

func TestRun_WhatCannotBeWrittenIsAnErrorAndLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	var asked load
	gone := func(l load) ([]sample, error) {
		_ = os.Remove(filepath.Join(dir, "no"))
		return flat(&asked, made(100, map[int]uint64{0: 1000}), nil)(l)
	}
	for _, flags := range [][]string{{"-svg", "no/h.svg"}, {"-csv", "no/h.csv"}, {"-svg", "no/h.svg", "-csv", "h.csv"}} {
		args := slices.Clone(flags)
		for i := 1; i < len(args); i += 2 {
			args[i] = filepath.Join(dir, args[i])
		}
		if err := os.Mkdir(filepath.Join(dir, "no"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := run(args, io.Discard, io.Discard, gone); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%v: %v", flags, err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "h.csv")); err != nil {
		t.Error("what can be written is not:", err)
	}
	if err := write(filepath.Join(dir, "x"), nil, func(io.Writer, []sample) error { return io.ErrShortWrite }); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
	closed := func(w io.Writer, _ []sample) error { // the error named the temporary file
		_, err := w.Write(nil)
		return errors.Join(err, w.(io.Closer).Close())
	}
	want := "cannot write " + filepath.Join(dir, "x") + ": file already closed"
	if err := write(filepath.Join(dir, "x"), nil, closed); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%d files are left", len(left))
	}
}
