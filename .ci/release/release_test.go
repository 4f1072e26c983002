package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A repository is one of git with a module of this name.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T) repository {
	t.Helper()
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"} {
		t.Setenv(name, "a@example.com")
	}
	r := repository{t, t.TempDir()}
	r.git("init", "-q")
	r.commit(map[string]string{
		"go.mod":               "module " + module + "\n\ngo 1.26.0\n",
		"memory/a/a.go":        "package a\n\ntype T struct{ X int }\n\nfunc (*T) M() {}\n\nfunc F() {}\n",
		"memory/b/b.go":        "package b\n\nfunc G() {}\n",
		"memory/internal/c.go": "package internal\n\nfunc H() {}\n",
		"demo/main.go":         "package main\n\nfunc main() {}\n",
		"CHANGELOG.md":         "# Changelog\n\n## 0.1.0\n\n- `a.T.M` is here.\n",
	})
	return r
}

func (r repository) git(args ...string) string {
	r.t.Helper()
	out, err := git(r.dir, args...)
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// commit writes files, removes those without text, and commits all.
func (r repository) commit(files map[string]string) {
	r.t.Helper()
	for name, text := range files {
		name = filepath.Join(r.dir, filepath.FromSlash(name))
		if text == "" {
			_ = os.Remove(name)
		} else if err := writeFile(name, strings.NewReader(text)); err != nil {
			r.t.Fatal(err)
		}
	}
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "a change")
}

// says runs the command and returns its exit status and what it printed.
func (r repository) says(args ...string) (int, string) {
	r.t.Helper()
	var out, complaints bytes.Buffer
	code := run(r.dir, args, &out, &complaints)
	return code, out.String() + complaints.String()
}

// broken removes a method, a function and a package, and adds a function.
var broken = map[string]string{
	"memory/a/a.go":        "package a\n\ntype T struct{ X int }\n\nfunc New() {}\n",
	"memory/b/b.go":        "",
	"memory/internal/c.go": "package internal\n",
}

func TestAPI_ComparesWithACommitBeforeThereIsAVersion(t *testing.T) {
	r := newRepository(t)
	if code, said := r.says("api"); code != 1 || !strings.Contains(said, "no commit to compare with") {
		t.Errorf("without since.txt: exit %d, %s", code, said)
	}
	r.commit(map[string]string{sinceFile: r.git("rev-parse", "HEAD") + "\n"})
	if code, said := r.says("api"); code != 0 || !strings.Contains(said, "0 changes since") {
		t.Errorf("nothing has changed: exit %d, %s", code, said)
	}
	r.commit(broken)
	code, said := r.says("api")
	for _, want := range []string{"break  memory/a: (*T).M: removed\n", "break  memory/a: F: removed\n", "       memory/a: New: added\n", "break  memory/b: package: removed\n", "4 changes", "3 of them break"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing in\n%s", want, said)
		}
	}
	if code != 0 || strings.Contains(said, "internal") {
		t.Errorf("exit %d, %s", code, said)
	}
	r.commit(map[string]string{sinceFile: "0123456789012345678901234567890123456789\n"})
	if code, said := r.says("api"); code != 1 || !strings.Contains(said, "git fetch --unshallow") {
		t.Errorf("a commit that is not there: exit %d, %s", code, said)
	}
}

// From a version on, CHANGELOG names each break, in a section above that version's.
func TestAPI_BreakThatChangelogDoesNotNameFails(t *testing.T) {
	r := newRepository(t)
	r.git("tag", "v0.1.0")
	r.commit(broken)
	code, said := r.says("api")
	if code != 1 || strings.Count(said, "BREAK ") != 3 || !strings.Contains(said, "above v0.1.0") {
		t.Errorf("nothing is named: exit %d, %s", code, said)
	}
	old := "\n## 0.1.0\n\n- `a.T.M` is here.\n"
	r.commit(map[string]string{"CHANGELOG.md": "# Changelog\n\n## 0.2.0\n\n- `a.T.M` and package `b` are gone, and `a.Fs`.\n" + old})
	if code, said := r.says("api"); code != 1 || strings.Count(said, "BREAK ") != 1 || !strings.Contains(said, "BREAK  memory/a: F: removed") {
		t.Errorf("F is not named: exit %d, %s", code, said)
	}
	r.commit(map[string]string{"CHANGELOG.md": "# Changelog\n\n## 0.2.0\n\n- `a.T.M`, `a.F` and `b` are gone.\n" + old})
	if code, said := r.says("api"); code != 0 || strings.Contains(said, "BREAK") {
		t.Errorf("all are named: exit %d, %s", code, said)
	}
	r.git("tag", "v0.2.0")
	if code, said := r.says("api"); code != 0 || !strings.Contains(said, "0 changes since v0.2.0") {
		t.Errorf("after the next version: exit %d, %s", code, said)
	}
}

func TestChange_NameIsThatOfChangelog(t *testing.T) {
	for text, want := range map[string]string{
		"F: removed":                       "a.F",
		"(*T).M: changed from func() to x": "a.T.M",
		"T.X: removed":                     "a.T.X",
		"(*Pool[T]).Free: removed":         "a.Pool.Free",
		"(*filter).Pieces, method set of *Filter1: removed": "a.Filter1.Pieces",
		"package: removed": "a",
	} {
		if got := (change{pkg: "memory/a", text: text}).name(); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// Nested modules are no part of the zip file, and its size is that of HEAD.
func TestZip_LeavesOutNestedModulesAndFailsAboveTheBound(t *testing.T) {
	r := newRepository(t)
	r.commit(map[string]string{"assets/shots/go.mod": "module m\n", "assets/shots/big.bin": noise(mostBytes + 1)})
	if code, said := r.says("zip"); code != 0 || strings.Contains(said, "shots") || !strings.Contains(said, "  memory/a\n") {
		t.Errorf("exit %d, %s", code, said)
	}
	r.commit(map[string]string{"assets/sound/big.bin": noise(mostBytes + 1)})
	if code, said := r.says("zip"); code != 1 || !strings.Contains(said, "want at most") {
		t.Errorf("above the bound: exit %d, %s", code, said)
	}
}

// noise returns bytes that do not compress.
func noise(n int) string {
	b, x := make([]byte, n), uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return string(b)
}

// The module of this repository is within its bound, in a clone and in a worktree of one.
func TestZip_OfThisModule(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var out, complaints bytes.Buffer
	if code := run(root, []string{"zip"}, &out, &complaints); code != 0 {
		t.Errorf("exit %d: %s%s", code, &out, &complaints)
	}
	t.Log(out.String())
}

func TestRun_RefusesInvalidCommandLines(t *testing.T) {
	for _, args := range [][]string{nil, {"zap"}, {"zip", "api"}} {
		var out, complaints bytes.Buffer
		if code := run(t.TempDir(), args, &out, &complaints); code != 2 || !strings.Contains(complaints.String(), "want zip, api or downloads") {
			t.Errorf("%q: exit %d, %s", args, code, &complaints)
		}
	}
}
