// Package dropin_test holds the programs to be short enough to copy from.
package dropin_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func programs(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Fields("ark/main.go ebitengine/main.go headless/main.go rewind/main.go server/main.go sprites/main.go terminal/main.go"); !slices.Equal(all, want) {
		t.Fatalf("programs are %v, want %v", all, want)
	}
	return all
}

// mostLines is what both READMEs say of the programs' main files.
const mostLines = 80

func TestPrograms_MainFilesHaveLessThan80Lines(t *testing.T) {
	for _, name := range programs(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(text, []byte("\n")); n >= mostLines {
			t.Errorf("%s has %d lines", name, n)
		}
	}
}

// The gate has to run the programs that are modules of their own, which go test ./... does not see, and
// the README has to name all.
func TestPrograms_AreInTheGateAndInTheReadme(t *testing.T) {
	gate, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range programs(t) {
		dir := filepath.Dir(name)
		if !bytes.Contains(readme, []byte("`"+dir+"`")) {
			t.Errorf("the README does not mention %s", dir)
		}
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
			continue
		}
		if n := bytes.Count(gate, []byte(" demo/dropin/"+dir)); n != 1 {
			t.Errorf(".ci/run has %s %d times; its list of nested modules has each once", dir, n)
		}
	}
}
