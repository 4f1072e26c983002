package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestGenerate_FilesAreUpToDate(t *testing.T) {
	for _, f := range files {
		want, err := generate(f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("..", "..", f.name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from its template: run go generate ./ecs", f.name)
		}
	}
}
