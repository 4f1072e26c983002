package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// open returns a bench, or ends the test if a library is missing.
func open(t *testing.T, o options) *bench {
	t.Helper()
	for _, l := range libraries {
		if _, err := l.side(); err != nil {
			testenv.Missing(t, err.Error())
		}
	}
	b, err := newBench(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.close)
	return b
}

// A file without places for the tables was found after the measurement.
func TestRun_RefusesFilesBeforeItMeasures(t *testing.T) {
	for args, want := range map[string]string{"-md go.mod": "go.mod has no lines", "-json new.x -state new.x": "cannot write new.x: it is the same file"} {
		if err := run(strings.Fields(args), io.Discard); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// The whole way: every side of every workload is built, runs, and does the same work.
func TestRun_ShortComparesEverySide(t *testing.T) {
	open(t, options{})
	var out strings.Builder
	if err := run([]string{"-short"}, &out); err != nil || !strings.Contains(out.String(), "every side does the same work") {
		t.Errorf("%v: %s", err, &out)
	}
}

func TestFind_ALibraryThatIsMissingIsAnError(t *testing.T) {
	if file, err := find("libnosuch.so.9"); err == nil || file != "" || err.Error() != "there is no libnosuch.so.9" {
		t.Error(file, err)
	}
	if file, err := findArchive("libnosuch.a"); err == nil || file != "" || err.Error() != "there is no libnosuch.a" {
		t.Error(file, err)
	}
	defer func(l []library) { libraries = l }(libraries)
	libraries = []library{{name: jemalloc, archive: "libnosuch.a"}, {name: mimalloc, soname: "libnosuch.so.9"}}
	for _, args := range []string{"-check", "-short", "-all", "-rows=W1"} {
		if err := run([]string{args}, io.Discard); err == nil || !strings.Contains(err.Error(), "jemalloc: there is no libnosuch.a\nmimalloc: there is no libnosuch.so.9\nDebian has") {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestServes_OnlyTheLibraryThatWasAskedFor(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "libm.so.2.1"), filepath.Join(dir, "libm.so")
	if err := os.WriteFile(real, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	shared, archive := side{name: mimalloc, preload: real}, side{name: jemalloc + through, archive: "libjemalloc.a"}
	for _, c := range []struct {
		side   side
		served string
		want   bool
	}{
		{shared, real, true}, {shared, link, true}, {shared, "/lib/libc.so.6", false}, {shared, "", false}, {shared, "static mimalloc", false},
		{archive, "static jemalloc", true}, {archive, "static glibc", false}, {archive, "unknown", false}, {archive, "/lib/libjemalloc.so.2", false},
	} {
		if got := c.side.serves(c.served); got != c.want {
			t.Errorf("%s served by %q: %v", c.side.name, c.served, got)
		}
	}
}

func TestParseFinding_RefusesWhatNoDriverPrints(t *testing.T) {
	const good = `{"allocator":"slab","workload":"W1","drawn":"1","read":"2","repeated":0,"disturbed":0,"figures":{"pair":1.5}}`
	f, err := parseFinding([]byte(good))
	if err != nil || f.Figures["pair"] != 1.5 || f.Drawn != "1" {
		t.Errorf("%+v, %v", f, err)
	}
	for _, bad := range []string{"", "text", "{", "{}", strings.Replace(good, "drawn", "dawn", 1), strings.Replace(good, `"read":"2",`, "", 1), strings.Replace(good, "1.5", `"x"`, 1)} {
		if _, err := parseFinding([]byte(bad)); err == nil || !strings.HasPrefix(err.Error(), "output of the driver: ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// fake makes the side a script that prints a finding, and adds a line to the file calls each time.
func fake(t *testing.T, b *bench, name, drawn, served string) (calls string) {
	t.Helper()
	s, err := b.side(name)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	calls = filepath.Join(dir, "calls")
	text := fmt.Sprintf("#!/bin/sh\necho \"$@\" >>%s\necho '{\"served\":%q,\"drawn\":%q,\"read\":\"2\",\"figures\":{\"pair\":3,\"resident\":30,\"live\":10}}'\n", calls, served, drawn)
	script := filepath.Join(dir, "driver")
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	b.programs[s.recipe()] = []string{script, script, script, script}
	return calls
}

// faked is a test of the slab and the four libraries, all of which are scripts.
func faked(t *testing.T, o options, drawnByC string) (b *bench, w test, calls string) {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		testenv.Missing(t, "/bin/sh")
	}
	b = &bench{o: o, programs: map[string][]string{}, found: map[string]side{}, versions: map[string]string{}}
	for _, l := range libraries {
		b.found[l.name] = side{name: l.name, kind: inC, archive: "a"}
		fake(t, b, l.name, drawnByC, "static "+l.name)
	}
	calls = fake(t, b, slabs, "1", "")
	return b, test{name: "W1", workload: "W1", figure: "pair", judged: []string{slabs}, cores: 1}, calls
}

func lines(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

func TestMeasure_EverySideRunsOnceARoundAndJudgedOnesTwice(t *testing.T) {
	b, w, calls := faked(t, options{rounds: 3, placements: 2}, "1")
	r, err := b.measure(w)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(w.sides(), slabs+again) {
		if s := r.Samples[name]; len(s) != 3 || s[2].Round != 2 || s[2].Program != 0 || s[1].Program != 1 || s[0].Figures["pair"] != 3 {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if n := lines(t, calls); n != 6 {
		t.Errorf("the slab ran %d times", n)
	}
}

func TestMeasure_RefusesSidesWithDifferentChecksums(t *testing.T) {
	b, w, _ := faked(t, options{rounds: 1, placements: 1}, "3")
	if _, err := b.measure(w); err == nil || !strings.Contains(err.Error(), "W1: slab drew 1 and read 2, glibc drew 3 and read 2: they have not done the same work") {
		t.Error(err)
	}
	if err := b.same([]test{w}, io.Discard); err == nil || !strings.Contains(err.Error(), "they have not done the same work") {
		t.Error(err)
	}
	b.o.peers = peerFlag{{name: "lost"}}
	if err := b.same([]test{w}, io.Discard); err == nil || err.Error() != `there is no side "lost"` {
		t.Errorf("-short left a side of -peer out: %v", err)
	}
}

func TestMeasure_RefusesALibraryThatDidNotServe(t *testing.T) {
	b, w, _ := faked(t, options{rounds: 1, placements: 1}, "1")
	s := b.found[mimalloc]
	s.preload, s.archive = "/usr/lib/libmimalloc.so.2", ""
	b.found[mimalloc] = s
	fake(t, b, mimalloc, "1", "libc.so.6")
	if _, err := b.measure(w); err == nil || !strings.Contains(err.Error(), `W1, mimalloc: malloc was served by "libc.so.6", and not by "/usr/lib/libmimalloc.so.2"`) {
		t.Error(err)
	}
}

func TestMeasure_ResidentIsAboveAnEmptyProgram(t *testing.T) {
	b, w, calls := faked(t, options{rounds: 1, placements: 1}, "1")
	w.whole = true
	r, err := b.measure(w)
	if err != nil || r.Samples[slabs][0].Figures[overLive] != 0 || lines(t, calls) != 4 {
		t.Errorf("%v: %+v, %d runs", err, r.Samples[slabs], lines(t, calls))
	}
}

func TestState_ResumesWhereItStopped(t *testing.T) {
	o := options{rounds: 2, placements: 1, state: filepath.Join(t.TempDir(), "state")}
	b, w, calls := faked(t, o, "1")
	next := w
	next.name = "W4"
	if _, err := b.measureAll([]test{w}); err != nil {
		t.Fatal(err)
	}
	first := lines(t, calls)
	results, err := b.measureAll([]test{w, next})
	if err != nil || len(results) != 2 || results[0].Test != "W1" || results[1].Test != "W4" || lines(t, calls) != 2*first {
		t.Errorf("%v: %d results, %d runs after %d", err, len(results), lines(t, calls), first)
	}
	b.o.rounds = 3
	if _, err := b.measureAll([]test{w}); err == nil || !strings.Contains(err.Error(), "name another file") {
		t.Errorf("results of other options: %v", err)
	}
	if err := os.WriteFile(o.state, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.measureAll([]test{w}); err == nil || !strings.HasPrefix(err.Error(), "-state: ") {
		t.Errorf("a damaged file: %v", err)
	}
}

func TestMeasureAll_TooFewProcessorsAreReported(t *testing.T) {
	b, w, calls := faked(t, options{rounds: 1, placements: 1}, "1")
	w.cores = 1 << 20
	results, err := b.measureAll([]test{w})
	if err != nil || len(results) != 1 || results[0].Missing != "it needs 1048576 processors" || lines(t, calls) != 0 {
		t.Error(results, err)
	}
}

func TestMeasureAll_MeasuresAPeerThatTheStateLacks(t *testing.T) {
	o := options{rounds: 1, placements: 1, state: filepath.Join(t.TempDir(), "state"), peers: peerFlag{{name: "later"}}}
	w, r := test{name: "W4"}, result{Test: "W4", Samples: map[string][]sample{}}
	w.judged = []string{slabs}
	for _, name := range w.sides() {
		r.Samples[name] = []sample{{}}
	}
	if err := o.keep([]result{r}); err != nil {
		t.Fatal(err)
	}
	b := &bench{o: o} // it has no side in C, so that no program is built
	if _, err := b.measureAll([]test{w}); err == nil || !strings.Contains(err.Error(), "there is no side") {
		t.Errorf("the workload was not measured again: %v", err)
	}
	b.o.peers = nil
	if results, err := b.measureAll([]test{w}); err != nil || len(results) != 1 {
		t.Error(results, err)
	}
	b.o.peers, b.found = o.peers, map[string]side{"later": {preload: "2.so"}}
	r.Samples["later"] = []sample{{}}
	for file, again := range map[string]bool{"1.so": true, "2.so": false} {
		r.Files = map[string]string{"later": file}
		if err := o.keep([]result{r}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.measureAll([]test{w}); (err != nil) != again {
			t.Errorf("the state has the figures of %s: %v", file, err)
		}
	}
	built := filepath.Join(t.TempDir(), "3.so")
	for name, s := range map[string]side{"later": {preload: built}, mimalloc: {preload: built}, glibc: {archive: built}} {
		b.found = map[string]side{name: s} // it was built or installed again, with the same name
		for i, content := range []string{"old", "newer"} {
			if err := os.WriteFile(built, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				r.Files = b.files(w)
				if err := o.keep([]result{r}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := b.measureAll([]test{w}); (err != nil) != (i == 1) {
				t.Errorf("%s: a library with the content %s: %v", name, content, err)
			}
		}
	}
}

// What is measured again after a change must not take the figures of before.
func TestSources_ChangesOfProgramsAreOtherSources(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		testenv.Missing(t, err.Error())
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return sources(dir)
	}
	write("a.go", "package a")
	write("a.md", "# A")
	for _, args := range []string{"init -q", "add .", "-c user.name=a -c user.email=a -c commit.gpgsign=false commit -q -m a"} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, strings.Fields(args)...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	was := sources(dir)
	if now := write("a.md", "# B"); now != was {
		t.Errorf("a page was changed: %s, and %s before", now, was)
	}
	first, second := write("a.go", "package b"), write("a.go", "package c")
	if first == was || second == was || first == second {
		t.Errorf("%s, %s and %s; want three", was, first, second)
	}
	if now := write("a.go", "package a"); now != was {
		t.Errorf("nothing is changed: %s, and %s before", now, was)
	}
	first, second = write("new.go", "package a"), write("new.go", "package b")
	if first == was || second == was || first == second {
		t.Errorf("a file was added: %s, %s and %s; want three", was, first, second)
	}
}
