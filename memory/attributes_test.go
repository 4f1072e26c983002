package memory_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A checkout on Windows has the bytes that are here: text keeps its line ends, and what is no text is named.
func TestHouse_ACheckoutHasTheSameBytesEverywhere(t *testing.T) {
	dir := root(t)
	text, err := os.ReadFile(filepath.Join(dir, ".gitattributes"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	if !slices.Contains(lines, "* text=auto eol=lf") {
		t.Error(".gitattributes lets Git change line ends")
	}
	names, err := checkedOut(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 100 {
		t.Errorf("only %d files", len(names))
	}
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case slices.Contains(lines, "*"+filepath.Ext(name)+" binary"):
		case bytes.IndexByte(b, 0) >= 0:
			t.Errorf("%s is no text, and .gitattributes does not say so", name)
		case bytes.Contains(b, []byte("\r\n")):
			t.Errorf("%s has line ends of Windows", name)
		}
	}
}

// checkedOut returns the files below dir that tests compare, or games read: all of assets, and of any testdata.
func checkedOut(dir string) (names []string, err error) {
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		if d.Type().IsRegular() && (strings.HasPrefix(name, "assets/") || strings.Contains(name, "/testdata/")) {
			names = append(names, name)
		}
		return nil
	})
	return names, err
}
