package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/andybalholm/brotli"
)

func TestWrite_PutsBesideAFileWhatReadsBackAsTheFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "page.html")
	want := bytes.Repeat([]byte("a page that repeats itself, "), 1000)
	if err := os.WriteFile(name, want, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := write(name); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name + ".br")
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(brotli.NewReader(bytes.NewReader(data)))
	if err != nil || !bytes.Equal(got, want) || len(data) > len(want)/100 {
		t.Errorf("%d bytes, of which %d come back, %v; want %d", len(data), len(got), err, len(want))
	}
	if err := write(name + ".missing"); err == nil {
		t.Error("a file that is not there is compressed")
	}
}
