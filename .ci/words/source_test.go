package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// long is a sentence of 31 words, full one of 30.
var (
	long = strings.TrimSpace(strings.Repeat("word ", 31)) + "."
	full = strings.TrimSpace(strings.Repeat("word ", 30)) + "."
)

// plant writes files and returns the tree, and its findings as unit, file:line and the first 12 bytes of the text.
func plant(t *testing.T, files map[string]string) (tr *tree, wrong, other []string) {
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
	tr, err := scan(root)
	if err != nil {
		t.Fatal(err)
	}
	show := func(list []finding) (s []string) {
		for _, f := range list {
			s = append(s, fmt.Sprintf("%s:%d %.12s", f.file, f.line, f.text))
		}
		return s
	}
	for _, name := range tr.names() {
		wrong = append(wrong, show(tr.units[name].wrong)...)
		other = append(other, show(tr.units[name].other)...)
	}
	slices.Sort(wrong)
	slices.Sort(other)
	return tr, wrong, other
}

const source = `// Package a keeps books.
package a

// T has freeList, and live + 1 of them. It is live.
//
//	anew
type T struct {
	// Size in books. LONG
	Size int // anew
	// live counts books.
	live     int
	freeList []int // anew
}

// Grow sets live + n, as T.live; live > 0. FULL
func (t *T) Grow(n int) {
	// books
}

// Shrink sets live + n.
func (t *T) Shrink(live int) {}

// u keeps books.
type u struct{}

// Exported methods of u are not exported: books.
func (u) Exported() {}

// I is an interface.
type I interface {
	// Do it anew.
	Do()
}

const (
	// A books.
	A = 1
	// b books.
	b = 2
)
`

func TestScan_FindsEachMistakeOnItsLine(t *testing.T) {
	text := strings.NewReplacer("LONG", long, "FULL", full).Replace(source)
	_, wrong, other := plant(t, map[string]string{"a/a.go": text})
	wantWrong := []string{
		`a/a.go:1 "books": wri`,
		`a/a.go:15 "live" is an`, `a/a.go:15 "live" is an`, `a/a.go:15 "live" is an`,
		`a/a.go:31 "anew": writ`,
		`a/a.go:36 "books": wri`,
		`a/a.go:4 "freeList" i`, `a/a.go:4 "live" is an`,
		`a/a.go:6 "anew": writ`,
		`a/a.go:8 "books": wri`, `a/a.go:8 a sentence o`,
		`a/a.go:9 "anew": writ`,
	}
	wantOther := []string{
		`a/a.go:10 "books": wri`, `a/a.go:12 "anew": writ`, `a/a.go:17 "books": wri`,
		`a/a.go:23 "books": wri`, `a/a.go:26 "books": wri`, `a/a.go:38 "books": wri`,
	}
	if !slices.Equal(wrong, wantWrong) {
		t.Errorf("wrong: %q\n want: %q", wrong, wantWrong)
	}
	if !slices.Equal(other, wantOther) {
		t.Errorf("other: %q\n want: %q", other, wantOther)
	}
}

func TestScan_ErrorTexts(t *testing.T) {
	_, wrong, other := plant(t, map[string]string{"a/a.go": `package a

var e = errors.New("books")
var f = fmt.Errorf("a: %w: "+
	"anew", e)
var g = &Misuse{Op: "anew", Reason: "books"}

func h(op, reason string) {
	panic(fmt.Sprintf("room %d", 1))
	h("anew", "books")
	g.Reason = "books"
	other("books")
}

func (m *Misuse) Error() string { return "books" }

var l = errors.New("LONG")
`, "a/a_test.go": `package a

var e = errors.New("books")
`, "b/b.go": "package b\n\nvar l = errors.New(\"" + long + "\")\n"})
	want := []string{
		`a/a.go:10 "books" in a`, `a/a.go:11 "books" in a`, `a/a.go:15 "books" in a`, `a/a.go:3 "books" in a`,
		`a/a.go:5 "anew" in an`, `a/a.go:6 "books" in a`, `a/a.go:9 "room" in an`, "b/b.go:3 an error tex",
	}
	if !slices.Equal(wrong, want) || len(other) > 0 {
		t.Errorf("wrong: %q\n want: %q\nother: %q", wrong, want, other)
	}
}

func TestScan_TestNamesAndExemptFiles(t *testing.T) {
	name := "Test" + strings.Repeat("x", maxTestName-4)
	_, wrong, other := plant(t, map[string]string{
		"a/a_test.go": "package a\n\n// books\nfunc " + name + "(t *testing.T) {}\n\nfunc " + name + "y(t *testing.T) {}\n\n" +
			"func Fuzz" + name + "() {}\n\nfunc (x) " + name + "y() {}\n\nfunc long" + name + "() {}\n",
		"a/testdata/x.go":  "package x // books",
		"a/testdata/y.md":  "books",
		"LICENSE-ART.md":   "books",
		"doc/guide.md":     "Text.\n\nThe books.\n",
		".git/x.md":        "books",
		".github/form.md":  "books",
		"a/notes.txt":      "books",
		"a/a.go":           "//go:build books\n\n//go:generate books\npackage a\n",
		"assets/NOTICE.md": "books",
	})
	wantWrong := []string{".github/form.md:1 \"books\": wri", "a/a_test.go:6 " + ("Test" + strings.Repeat("x", 8)), "a/a_test.go:8 FuzzTestxxxx", "doc/guide.md:3 \"books\": wri"}
	wantOther := []string{`a/a_test.go:3 "books": wri`}
	if !slices.Equal(wrong, wantWrong) || !slices.Equal(other, wantOther) {
		t.Errorf("wrong: %q\n want: %q\nother: %q\n want: %q", wrong, wantWrong, other, wantOther)
	}
}

func TestScan_MedianIsOfExportedComments(t *testing.T) {
	tr, _, _ := plant(t, map[string]string{"a/a.go": "// Package a is one. It is a package. Yes.\npackage a\n\n// a b c d e f g\nvar x int\n"})
	if got, want := median(tr.units["a"].lengths), "3 sentences, median 4 words, longest 4"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := median(nil); got != "no sentence" {
		t.Error(got)
	}
}

func TestScan_RefusesWhatItCannotRead(t *testing.T) {
	root := t.TempDir()
	if _, err := scan(root); err == nil {
		t.Error("an empty tree is scanned")
	}
	if err := os.WriteFile(filepath.Join(root, "a.go"), []byte("package"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := scan(root); err == nil {
		t.Error("a broken file is scanned")
	}
}
