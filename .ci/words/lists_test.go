package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// repo writes a tree with the lists and returns its root.
func repo(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, ".ci/words"), 0o755); err != nil {
		t.Fatal(err)
	}
	return root
}

// words runs the command and returns its exit code and all its output.
func words(root string, args ...string) (int, string) {
	var out strings.Builder
	code := run(append([]string{"-root", root}, args...), &out, &out)
	return code, out.String()
}

func TestRun_JudgesTheTreeByItsLists(t *testing.T) {
	const clean, dirty, others = "package a\n", "// Package a has books.\npackage a\n", "package a\n\n// books anew\nvar x int\n"
	for name, c := range map[string]struct {
		files map[string]string
		code  int
		says  string
	}{
		"clean":              {map[string]string{"a/a.go": clean}, 0, "0 mistakes"},
		"a mistake":          {map[string]string{"a/a.go": dirty}, 1, `a/a.go:1: "books": write metadata`},
		"to do":              {map[string]string{"a/a.go": dirty, ".ci/words/todo.txt": "# x\na\n"}, 0, "a: 1 mistakes to do"},
		"done":               {map[string]string{"a/a.go": clean, ".ci/words/todo.txt": "a\n"}, 1, "a has no mistake left"},
		"gone":               {map[string]string{"a/a.go": clean, ".ci/words/todo.txt": "b\n"}, 1, "b is in todo.txt and not in the tree"},
		"others":             {map[string]string{"a/a.go": others}, 1, "ratchet.txt allows 0"},
		"others allowed":     {map[string]string{"a/a.go": others, ".ci/words/ratchet.txt": "a 2\n"}, 0, "2 in other comments"},
		"others above":       {map[string]string{"a/a.go": others, ".ci/words/ratchet.txt": "a 1\n"}, 1, "a: 2 phrases"},
		"others below":       {map[string]string{"a/a.go": others, ".ci/words/ratchet.txt": "a 3\n"}, 0, "2 in other comments"},
		"others to do":       {map[string]string{"a/a.go": others, ".ci/words/todo.txt": "a\n"}, 1, "ratchet.txt allows 0"},
		"a ratchet of words": {map[string]string{"a/a.go": clean, ".ci/words/ratchet.txt": "a b\n"}, 2, "ratchet.txt:1"},
		"a ratchet of zero":  {map[string]string{"a/a.go": clean, ".ci/words/ratchet.txt": "a 0\n"}, 2, "above 0"},
		"a ratchet twice":    {map[string]string{"a/a.go": clean, ".ci/words/ratchet.txt": "a 1\na 2\n"}, 2, "ratchet.txt:2"},
		"to do twice":        {map[string]string{"a/a.go": clean, ".ci/words/todo.txt": "a\na\n"}, 2, "todo.txt:2"},
		"to do, two fields":  {map[string]string{"a/a.go": clean, ".ci/words/todo.txt": "a b\n"}, 2, "want 1 fields"},
	} {
		code, out := words(repo(t, c.files))
		if code != c.code || !strings.Contains(out, c.says) {
			t.Errorf("%s: code %d, want %d with %q; it printed\n%s", name, code, c.code, c.says, out)
		}
	}
}

func TestRun_ListsTheUnitsThatItIsGiven(t *testing.T) {
	root := repo(t, map[string]string{
		"a/a.go": "// Package a has books.\npackage a\n\n// anew\nvar x int\n", "b/b.go": "package b\n", "R.md": "books",
		".ci/words/todo.txt": "a\nR.md\n", ".ci/words/ratchet.txt": "a 1\n",
	})
	code, out := words(root, "./a/", "b")
	if code != 1 || !strings.Contains(out, "a/a.go:1:") || strings.Contains(out, "a/a.go:4:") || !strings.Contains(out, "b: 0 mistakes") {
		t.Errorf("code %d\n%s", code, out)
	}
	if code, out = words(root, "-other", "a"); code != 1 || !strings.Contains(out, "a/a.go:4:") {
		t.Errorf("code %d\n%s", code, out)
	}
	if code, out = words(root, "b"); code != 0 {
		t.Errorf("code %d\n%s", code, out)
	}
	if code, out = words(root, "R.md"); code != 1 || !strings.Contains(out, "R.md:1:") {
		t.Errorf("code %d\n%s", code, out)
	}
	if code, out = words(root, "c"); code != 2 || !strings.Contains(out, "no unit c") {
		t.Errorf("code %d\n%s", code, out)
	}
}

func TestWrite_LowersAndNeverRaises(t *testing.T) {
	root := repo(t, map[string]string{
		"a/a.go":             "// Package a has books.\npackage a\n\n// anew\nvar x int\n",
		"b/b.go":             "package b\n\n// books anew\nvar x int\n",
		"c/c.go":             "package c\n",
		".ci/words/todo.txt": "a\nc\ngone\n", ".ci/words/ratchet.txt": "a 5\nb 1\nc 4\ngone 7\n",
	})
	if code, out := words(root, "-write"); code != 1 || !strings.Contains(out, "b: 2 phrases") {
		t.Errorf("code %d\n%s", code, out)
	}
	for name, want := range map[string]string{"ratchet.txt": ratchetHead + "a 1\nb 1\n", "todo.txt": todoHead + "a\n"} {
		if got, err := os.ReadFile(filepath.Join(root, ".ci/words", name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	// When the last unit is done the list is deleted.
	if err := os.WriteFile(filepath.Join(root, "a/a.go"), []byte("package a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	words(root, "-write")
	if _, err := os.Stat(filepath.Join(root, ".ci/words/todo.txt")); !os.IsNotExist(err) {
		t.Errorf("todo.txt: %v", err)
	}
}

func TestWrite_BeginsARatchet(t *testing.T) {
	root := repo(t, map[string]string{"a/a.go": "package a\n\n// books anew\nvar x int\n", "b/b.go": "package b\n"})
	if code, out := words(root, "-write"); code != 0 {
		t.Errorf("code %d\n%s", code, out)
	}
	if got, _ := os.ReadFile(filepath.Join(root, ".ci/words/ratchet.txt")); string(got) != ratchetHead+"a 2\n" {
		t.Errorf("%q", got)
	}
}

func TestRun_RefusesBadArguments(t *testing.T) {
	if code, _ := words(t.TempDir(), "-no-such-flag"); code != 2 {
		t.Errorf("code %d, want 2", code)
	}
	if code, out := words(filepath.Join(t.TempDir(), "none")); code != 2 || out == "" {
		t.Errorf("code %d, want 2: %s", code, out)
	}
}
