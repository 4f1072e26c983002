package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/notices"
	"github.com/strata-go/strata/engine/cmdline/cmdtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

func TestNotices_AreThoseOfTheLinkedPackages(t *testing.T) {
	testenv.Long(t)
	want, err := collect()
	if err != nil {
		t.Fatal(err)
	}
	if notices.Text != string(want) {
		t.Error("demo/notices/NOTICES.txt is not what the demo links: run go generate ./demo/notices")
	}
	if !testenv.Brief() { // TestCommand_WritesTheFile is a second run
		again, err := collect()
		if err != nil || !bytes.Equal(want, again) {
			t.Errorf("two runs differ: %v", err)
		}
	}
	for _, name := range []string{"The Go language", "github.com/hajimehoshi/ebiten/v2 v", "golang.org/x/image v", "GLFW", "Go Authors", "Apache License"} {
		if !strings.Contains(notices.Text, name) {
			t.Errorf("NOTICES.txt does not mention %s", name)
		}
	}
}

// Every module is found on at least one of the systems; those of a single system are not forgotten.
func TestModules_AreTheUnionOfAllSystems(t *testing.T) {
	testenv.Long(t)
	all, err := modules()
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join("..", "..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, m := range all {
		names[m.name] = true
		if !strings.Contains(string(mod), m.name+" "+m.version) {
			t.Errorf("%s %s is not in go.mod", m.name, m.version)
		}
	}
	for _, only := range []string{"golang.org/x/sys", "github.com/jfreymuth/pulse", "github.com/ebitengine/purego"} { // none of them is linked for js
		if !names[only] {
			t.Errorf("%s is missing from %v", only, names)
		}
	}
	if names["pgregory.net/rapid"] {
		t.Error("a module of the tests alone is among those that are linked")
	}
}

func TestModule_WithoutALicenceIsAnError(t *testing.T) {
	dir := t.TempDir()
	inner := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	m := module{name: "example.com/m", version: "v1.0.0", root: dir, folders: []string{inner}}
	put := func(dir, name string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(" "+name+"\r\nline\r\n\r\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(dir, "PATENTS")
	put(dir, "license.go")
	put(dir, "licenses_of_mine.txt")
	if _, err := m.notices(); err == nil || !strings.Contains(err.Error(), "example.com/m v1.0.0: there is no licence") {
		t.Errorf("%v", err)
	}
	put(inner, "COPYING.txt")
	put(filepath.Dir(inner), "NOTICE")
	put(dir, "UNLICENSE")
	found, err := m.notices()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range found {
		got = append(got, n.file)
		if want := filepath.Base(n.file) + "\nline\n"; n.text != want {
			t.Errorf("%s is %q; want %q", n.file, n.text, want)
		}
	}
	if want := "PATENTS UNLICENSE a/NOTICE a/b/COPYING.txt"; strings.Join(got, " ") != want {
		t.Errorf("found %v; want %s", got, want)
	}
	m.folders = []string{t.TempDir()}
	if _, err := m.notices(); err == nil || !strings.Contains(err.Error(), "outside of the module's folder") {
		t.Errorf("a package elsewhere: %v", err)
	}
}

func TestFormat_EqualTextsAreGivenOnce(t *testing.T) {
	got := string(format([]notice{{"a v1", "LICENSE", "one\n"}, {"b v2", "LICENSE", "two\n"}, {"c v3", "COPYING", "one\n"}}))
	want := head + "\n" + rule + "a v1 (LICENSE)\nc v3 (COPYING)\n" + rule + "\none\n\n" + rule + "b v2 (LICENSE)\n" + rule + "\ntwo\n"
	if got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

func TestFlags_EveryMalformedValueIsOneLine(t *testing.T) {
	cmdtest.Every(t, func(args []string, out io.Writer) error {
		_, err := parse(args, out)
		return err
	})
}

// It was found after the minute that the licences take.
func TestCommand_RefusesAFileThatCannotBeWritten(t *testing.T) {
	var fault bytes.Buffer
	dir := t.TempDir()
	if code := command([]string{"-out", dir}, &fault); code != 2 || fault.String() != "gen: -out: cannot write "+dir+": it is a folder; allowed is a plain file\n" {
		t.Errorf("exit %d: %s", code, &fault)
	}
}

func TestCommand_WritesTheFile(t *testing.T) {
	testenv.Long(t)
	var fault bytes.Buffer
	out := filepath.Join(t.TempDir(), "n.txt")
	if code := command([]string{"-out", out}, &fault); code != 0 {
		t.Fatalf("exit %d: %s", code, &fault)
	}
	if data, err := os.ReadFile(out); err != nil || string(data) != notices.Text {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if code := command([]string{"-help"}, &fault); code != 0 {
		t.Errorf("-help: exit %d", code)
	}
}
