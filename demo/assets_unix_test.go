//go:build linux || darwin || freebsd

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/strata-go/strata/assets"
)

// unpacked is the game's assets in a folder.
func unpacked(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, assets.FS()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAssets_PipesAndOutwardLinksAreNamedAndTheGameGoesOn(t *testing.T) {
	dir := unpacked(t)
	outside := filepath.Join(t.TempDir(), "outside.png")
	data, err := fs.ReadFile(assets.FS(), "art/warden.png")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(outside, data, 0o644); err != nil {
		t.Fatal(err)
	}
	link, pipe := filepath.Join(dir, "art", "warden.png"), filepath.Join(dir, "art", "lancer.png")
	for _, name := range []string{link, pipe} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := demo("-headless", "-ticks", "60", "-assets", dir)
	for _, want := range []string{
		`picture "art/warden.png": reading: path escapes from parent`, `picture "art/lancer.png": reading: it is no regular file: p---------`,
	} {
		if code != 0 || strings.Count(stderr, want) != 1 {
			t.Errorf("exit %d, stderr %q; want %q once", code, stderr, want)
		}
	}
}

func TestAssets_ManifestThatIsAPipeIsNamedAndReplaced(t *testing.T) {
	dir := unpacked(t)
	pipe := filepath.Join(dir, "levels", "ember.json")
	if err := os.Remove(pipe); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := demo("-headless", "-ticks", "60", "-assets", dir)
	if code != 0 || !strings.Contains(stderr, `manifest "levels/ember.json": reading: it is no regular file`) {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
}
