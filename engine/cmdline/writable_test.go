package cmdline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A command measured for an hour, and then could not write its figures.
func TestWritable_NamesWhatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(in("old"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, good := range [][]string{{}, {"", ""}, {in("new"), in("old"), "", in("newer")}} {
		if err := Writable(good...); err != nil {
			t.Errorf("%v: %v", good, err)
		}
	}
	for bad, want := range map[string]string{
		dir: "it is a folder", in("none/a"): "", in("old/a"): "", os.DevNull: "it is a pipe or a device", in(strings.Repeat("a", 300)): "",
	} {
		if err := Writable("", in("new"), bad); err == nil || !strings.HasPrefix(err.Error(), "cannot write "+bad+": "+want) || strings.Contains(err.Error(), ".strata-") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for _, two := range [][]string{{in("new"), dir + "/./new"}, {in("old"), "", in("old")}} {
		if err := Writable(two...); err == nil || !strings.HasSuffix(err.Error(), "; name two") {
			t.Errorf("%v: %v", two, err)
		}
	}
	if data, err := os.ReadFile(in("old")); string(data) != "old" {
		t.Errorf("the old file has %q, %v", data, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
