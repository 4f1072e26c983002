package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// module writes a module of these files and returns its folder.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.com/m\n\ngo 1.26\n"
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// says runs the command and returns its exit status and what it complained of.
func says(t *testing.T, dir string, ports ...string) (int, string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(dir, ports, &stdout, &stderr)
	return code, stderr.String()
}

func TestRun_AMistakeOfOneSystemIsFoundThereAlone(t *testing.T) {
	const clean = "package m\n\nvar A = here()\n"
	for what, c := range map[string]struct{ name, text, want string }{
		"a name":     {"a_windows.go", "package m\n\nfunc here() int { return nowhere }\n", "undefined: nowhere"},
		"a constant": {"a_windows.go", "package m\n\nfunc here() int { return 1 << 70 }\n", "(overflows)"},
		"a function": {"a_windows.go", "package m\n", "undefined: here"},
		"no body":    {"a_windows.go", "package m\n\nfunc here() int\n", "here has no body"},
		"grammar":    {"a_windows.go", "package m\n\nfunc here() int { return ) }\n", "expected operand"},
		"unused":     {"a_windows.go", "package m\n\nfunc here() int { x := 1; return 2 }\n", "declared and not used: x"},
	} {
		dir := module(t, map[string]string{"a.go": clean, "a_linux.go": "package m\n\nfunc here() int { return 1 }\n", c.name: c.text})
		if code, said := says(t, dir, "linux/arm64"); code != 0 || said != "" {
			t.Errorf("%s: on linux exit %d, %q", what, code, said)
		}
		code, said := says(t, dir, "linux/arm64", "windows/amd64")
		if code != 1 || !strings.HasPrefix(said, "windows/amd64: a") || !strings.Contains(said, c.want) {
			t.Errorf("%s: on windows exit %d, %q; want %q", what, code, said, c.want)
		}
	}
}

func TestRun_ConstantsAreThoseOfTheProcessor(t *testing.T) {
	dir := module(t, map[string]string{"a.go": "package m\n\nvar A int = 1 << 40\n"})
	if code, said := says(t, dir, "linux/amd64"); code != 0 {
		t.Errorf("64 bits: %q", said)
	}
	if code, said := says(t, dir, "linux/386"); code != 1 || !strings.Contains(said, "(overflows)") {
		t.Errorf("32 bits: exit %d, %q", code, said)
	}
}

// Both kinds of tests are checked, and the parts of the standard library that they import. A mistake is reported
// once, although a package that a test recompiles is checked twice.
func TestRun_TestsAreLookedAtAsWell(t *testing.T) {
	files := map[string]string{
		"a.go":           "package m\n\nfunc A() int { return 1 }\n",
		"export_test.go": "package m\n\nfunc B() int { return 2 }\n",
		"a_test.go":      "package m_test\n\nimport (\n\t\"testing\"\n\n\t\"example.com/m\"\n)\n\nfunc TestA(t *testing.T) { t.Log(m.A(), m.B()) }\n",
	}
	dir := module(t, files)
	if code, said := says(t, dir, "windows/amd64"); code != 0 {
		t.Errorf("nothing is wrong: %s", said)
	}
	files["a_test.go"] = strings.Replace(files["a_test.go"], "m.B()", "m.C()", 1)
	if code, said := says(t, module(t, files), "windows/amd64"); code != 1 || said != "windows/amd64: a_test.go:9:43: undefined: m.C\n" {
		t.Errorf("in a test outside: exit %d, %q", code, said)
	}
	files["a.go"] = "package m\n\nfunc A() int { return D }\n"
	if _, said := says(t, module(t, files), "windows/amd64"); strings.Count(said, "undefined: D") != 1 {
		t.Errorf("in what a test recompiles: %q", said)
	}
}

func TestRun_WhatCannotBeCheckedIsNoSuccess(t *testing.T) {
	dir := module(t, map[string]string{"a_windows.go": "package m\n"})
	if code, said := says(t, dir, "plan9/amd64"); code != 1 || said == "" {
		t.Errorf("a port that no file is for: exit %d, %q", code, said)
	}
	if code, said := says(t, dir, "windows/vax"); code != 1 || said == "" {
		t.Errorf("a processor that is none: exit %d, %q", code, said)
	}
	for _, ports := range [][]string{nil, {"windows"}, {"/amd64"}, {"linux/386/x"}} {
		if code, said := says(t, dir, ports...); code != 2 || !strings.Contains(said, "GOOS/GOARCH") {
			t.Errorf("%q: exit %d, %q", ports, code, said)
		}
	}
}
