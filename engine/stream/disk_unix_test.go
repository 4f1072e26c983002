//go:build linux || darwin || freebsd

package stream

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What is really on a disk: a named pipe, which hangs when it is opened, and links that lead
// out of the folder.
func TestRead_PipesAndLinksOnDisk(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret.png")
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(name, encode(t, 4, 4), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "art"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(outside)
	write(filepath.Join(dir, "art", "good.png"))
	if err := os.Symlink(outside, filepath.Join(dir, "art", "link.png")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("good.png", filepath.Join(dir, "art", "inner.png")); err != nil {
		t.Fatal(err)
	}
	wants := map[string]string{
		"link": "path escapes from parent",
		"pipe": "it is no regular file: p---------", "piped": "it is no regular file: p---------",
	}
	if err := errors.Join(syscall.Mkfifo(filepath.Join(dir, "art", "pipe.png"), 0o600), os.Symlink("pipe.png", filepath.Join(dir, "art", "piped.png"))); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	r := newRig(t, root.FS(), 1, 0)
	within(t, soon, "loading", func() {
		for id := range wants {
			r.picture(id, 0)
		}
		r.picture("good", 1)
		r.picture("inner", 2)
		if ids := r.run(); len(ids) != len("goodinner") {
			t.Errorf("uploaded %v", ids)
		}
	})
	for _, err := range r.Errors() {
		var e *LoadError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), wants[strings.TrimSuffix(filepath.Base(e.Name), ".png")]) || !strings.Contains(err.Error(), e.Name) {
			t.Errorf("%v; wants %v", err, wants)
		}
	}
	if n := len(r.Errors()); n != len(wants) {
		t.Errorf("%d errors; want %d", n, len(wants))
	}
}
