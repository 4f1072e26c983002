package overlay

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
)

// dumped has a picture written and waits for the end of it.
func (g *game) dumped() {
	g.t.Helper()
	g.o.startDump(image.NewRGBA(image.Rect(0, 0, 4, 3)))
	testenv.Until(g.t, "the dump ends", time.Millisecond, func() bool { g.frame(1/g.hz, nil); return !g.o.dump.busy() })
}

func names(t *testing.T, dir string) (all []string) {
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestDump_IsFiguresAsJSONAndCSVAndAPicture(t *testing.T) {
	dir := t.TempDir()
	g := newGame(t, 60, tiers.Config{}, Config{Dir: dir})
	g.press(1)
	g.run(2, memtest.Leak(t, g.tag("ai"), 100<<10, 1024))
	g.dumped()
	g.want("wrote ")
	g.run(2.9, nil)
	g.want("wrote ")
	g.run(0.5, nil)
	g.wantNot("wrote ")
	all := names(t, dir)
	if len(all) != 3 {
		t.Fatalf("%v", all)
	}
	for _, name := range all {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
		f, err := os.Open(filepath.Join(dir, name))
		must(t, err)
		defer f.Close()
		switch filepath.Ext(name) {
		case ".json":
			var d Record
			must(t, json.NewDecoder(f).Decode(&d))
			if len(d.Tiers) != tiers.Count || len(d.Tags) != 2 || d.Meter.Times.Frames == 0 || d.Tags[0].InUse == 0 {
				t.Errorf("%+v", d)
			}
		case ".csv":
			if rows, err := csv.NewReader(f).ReadAll(); err != nil || len(rows) != 1+tiers.Count {
				t.Errorf("%v, %v", rows, err)
			}
		case ".png":
			if img, err := png.Decode(f); err != nil || img.Bounds() != image.Rect(0, 0, 4, 3) {
				t.Errorf("%v", err)
			}
		}
	}
}

// The manager that New made has no memory of the game: its tiers would be empty rows.
func TestDump_WithoutAManagerHasNoTiers(t *testing.T) {
	dir := t.TempDir()
	g := newGame(t, 60, tiers.Config{}, Config{Dir: dir})
	g.o.own = g.m
	defer func() { g.o.own = nil }() // it is closed elsewhere
	g.run(0.1, nil)
	g.dumped()
	all := names(t, dir)
	if len(all) != 2 || filepath.Ext(all[0]) != ".json" {
		t.Fatalf("%v", all)
	}
	b, err := os.ReadFile(filepath.Join(dir, all[0]))
	var d Record
	must(t, errors.Join(err, json.Unmarshal(b, &d)))
	if d.Tiers == nil || len(d.Tiers) != 0 || d.Meter.Rows[0].Kind != "go" {
		t.Errorf("%+v", d)
	}
}

var errDisk = errors.New("no space left on device")

// brokenFile fails at a step.
type brokenFile struct {
	file
	fail string
}

func (f brokenFile) Write(p []byte) (int, error) {
	if f.fail == "write" {
		return 0, errDisk
	}
	return f.file.Write(p)
}

func (f brokenFile) Chmod(m os.FileMode) error {
	if f.fail == "chmod" {
		return errDisk
	}
	return f.file.Chmod(m)
}

func (f brokenFile) Close() error {
	err := f.file.Close()
	if f.fail == "close" {
		return errDisk
	}
	return err
}

func TestDump_IsWholeOrNotAtAllWhicheverStepFails(t *testing.T) {
	for _, step := range []string{"create", "write", "chmod", "close", "rename"} {
		for nth := range 3 { // of the three files
			dir := t.TempDir()
			g := newGame(t, 60, tiers.Config{}, Config{Dir: dir})
			g.run(0.1, nil)
			g.press(1)
			whole, n := g.o.dump.disk, 0
			g.o.dump.disk.create = func(dir, pattern string) (file, error) {
				n++
				if step == "create" && n == nth+1 {
					return nil, errDisk
				}
				f, err := whole.create(dir, pattern)
				if err == nil && n == nth+1 {
					f = brokenFile{f, step}
				}
				return f, err
			}
			renames := 0
			g.o.dump.disk.rename = func(from, to string) error {
				if renames++; step == "rename" && renames == nth+1 {
					return errDisk
				}
				return whole.rename(from, to)
			}
			g.dumped()
			g.want("no dump: ")
			if all := names(t, dir); len(all) != 0 {
				t.Errorf("%s of file %d fails: %v stay", step, nth+1, all)
			}
			if !strings.Contains(g.o.note.text, errDisk.Error()) {
				t.Errorf("%s of file %d: %q", step, nth+1, g.o.note.text)
			}
		}
	}
}

func TestDump_WhereItCannotBeIsSaidAndTheGameGoesOn(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{Dir: filepath.Join(t.TempDir(), "no", "such", "folder")})
	g.run(0.1, nil)
	g.dumped() // nothing else is shown
	g.want("no dump: ")
	g.run(4, nil)
	if g.o.showing() {
		t.Error("it is still said")
	}
	g.o.dump.noDisk = true
	g.press(6)
	if !g.o.dump.wanted {
		t.Fatal("not wanted")
	}
	g.o.writeDump(nil)
	g.run(0.1, nil)
	g.want("no dump: a browser has no file system")
}

func TestClose_WaitsForADumpThatIsBeingWritten(t *testing.T) {
	dir := t.TempDir()
	g := newGame(t, 60, tiers.Config{}, Config{Dir: dir})
	g.run(0.1, nil)
	g.o.dump.disk.rename = func(from, to string) error {
		time.Sleep(20 * time.Millisecond)
		return os.Rename(from, to)
	}
	g.o.startDump(image.NewRGBA(image.Rect(0, 0, 4, 3)))
	must(t, g.o.Close())
	if all := names(t, dir); len(all) != 3 || strings.HasPrefix(all[0], ".") {
		t.Errorf("%v", all)
	}
	g.o.dump.disk.rename = func(string, string) error { return errDisk }
	g.o.startDump(image.NewRGBA(image.Rect(0, 0, 4, 3)))
	if err := g.o.Close(); !errors.Is(err, errDisk) {
		t.Errorf("%v", err)
	}
}
