//go:build linux || darwin || freebsd

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/strata-go/strata/assets"
)

// unpacked copies the game's assets to a folder and returns its name. Of the ground it copies the named realms alone: a
// realm has 575 files, which only a tour or a window reads.
func unpacked(t *testing.T, ground ...string) string {
	t.Helper()
	dir, files := t.TempDir(), assets.FS()
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if realm, ok := strings.CutPrefix(name, "realms/"); ok && d.IsDir() && !slices.Contains(ground, realm) {
			return fs.SkipDir
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err != nil || d.IsDir() {
			return errors.Join(err, os.MkdirAll(to, 0o755))
		}
		data, err := fs.ReadFile(files, name)
		return errors.Join(err, os.WriteFile(to, data, 0o644))
	})
	if err != nil {
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
