package shell

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/strata-go/strata/engine/atomicfile"
)

// counted is the operating system until a step: then no call happens any more, as after SIGKILL, or that one fails.
type counted struct {
	atomicfile.System
	step, stopAt, failAt int
	call                 string // that failed
}

var errKilled = errors.New("the process was killed")

func (c *counted) do(call string) error {
	if c.stopAt > 0 && c.step >= c.stopAt {
		return errKilled
	}
	if c.step++; c.step == c.failAt {
		c.call = call
		return &fs.PathError{Op: call, Path: "a temporary file", Err: syscall.ENOSPC}
	}
	return nil
}

func (c *counted) Create(dir, pattern string) (atomicfile.File, error) {
	if err := c.do("create"); err != nil {
		return nil, err
	}
	f, err := c.System.Create(dir, pattern)
	return countedFile{f, c}, err
}

func (c *counted) Open(name string) (io.ReadCloser, error) {
	if err := c.do("open"); err != nil {
		return nil, err
	}
	return c.System.Open(name)
}

func (c *counted) Link(name, second string) error {
	if err := c.do("link"); err != nil {
		return err
	}
	return c.System.Link(name, second)
}

func (c *counted) Rename(from, to string) error {
	if err := c.do("rename"); err != nil {
		return err
	}
	return c.System.Rename(from, to)
}

func (c *counted) Remove(name string) error {
	if err := c.do("remove"); err != nil {
		return err
	}
	return c.System.Remove(name)
}

func (c *counted) SyncFolder(dir string) error {
	if err := c.do("sync the folder"); err != nil {
		return err
	}
	return c.System.SyncFolder(dir)
}

func (c *counted) MakeFolder(dir string, mode fs.FileMode) error {
	if err := c.do("make the folder"); err != nil {
		return err
	}
	return c.System.MakeFolder(dir, mode)
}

type countedFile struct {
	atomicfile.File
	c *counted
}

func (f countedFile) Write(p []byte) (int, error) {
	for i, half := range [][]byte{p[:len(p)/2], p[len(p)/2:]} {
		if err := f.c.do("write"); err != nil {
			return i * len(p) / 2, err
		}
		if n, err := f.File.Write(half); err != nil {
			return i*len(p)/2 + n, err
		}
	}
	return len(p), nil
}

func (f countedFile) Chmod(mode fs.FileMode) error {
	if err := f.c.do("set the mode"); err != nil {
		return err
	}
	return f.File.Chmod(mode)
}

func (f countedFile) Sync() error {
	if err := f.c.do("sync"); err != nil {
		return err
	}
	return f.File.Sync()
}

// Close closes in any case: this process has the file open, and lives.
func (f countedFile) Close() error {
	return errors.Join(f.c.do("close"), f.File.Close())
}

// saved starts a shell in a folder whose settings are broken or good, changes one, and returns the shell's lines. It
// works on two files: settings, whose backup is wanted if they are broken, and runs.
func saved(dir string, sys atomicfile.System) (log []string) {
	s := New(Config{Store: Files{Dir: dir, system: sys}, Log: func(l string) { log = append(log, l) }})
	s.Settings().Master = 3
	s.dirty = true
	s.Close()
	s.show(Playing)
	s.End(Result{Run: Run{Score: 700, Realm: "TIDE", Ticks: 60}})
	return log
}

// The shell saves settings and runs, and is killed or refused at each call in turn: the next one finds of both the old or
// the new version. Broken settings stay under their name until they have a backup.
func TestFiles_StoppedOrFailingAtEachCall(t *testing.T) {
	const broken = `{"kind":"strata settings","version":1,"master":11}`
	good, err := WriteSettings(DefaultSettings())
	runs, err2 := WriteRuns([]Run{{Score: 500, Realm: "EMBER"}})
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	for _, before := range []string{"", broken, string(good)} {
		for _, fail := range []bool{false, true} {
			steps := 0
			for step := 1; step < 99; step++ {
				dir := filepath.Join(t.TempDir(), "strata")
				if before != "" {
					err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, settingsName), []byte(before), 0o600), os.WriteFile(filepath.Join(dir, runsName), runs, 0o600))
					if err != nil {
						t.Fatal(err)
					}
				}
				c := &counted{System: atomicfile.OS(), stopAt: step}
				if fail {
					c.stopAt, c.failAt = 0, step
				}
				log := saved(dir, c)
				if fail && c.call == "" || !fail && c.step < step {
					steps = step
					break
				}
				at := fmt.Sprintf("%.50q, step %d, %q fails", before, step, c.call)
				if fail && c.call != "remove" && c.call != "link" && !slices.ContainsFunc(log, func(l string) bool {
					return strings.Contains(l, c.call+": ") && strings.Contains(l, syscall.ENOSPC.Error()) && strings.Contains(l, filepath.Join(dir, ""))
				}) {
					t.Errorf("%s: it says %q", at, log)
				}
				found(t, at, dir, before, broken)
			}
			if steps < 14 {
				t.Errorf("%.50q: %d steps", before, steps)
			}
		}
	}
}

// found complains if what a later process finds is neither the old nor the new version.
func found(t *testing.T, at, dir, before, broken string) {
	t.Helper()
	abandon(t, dir)
	f := Files{Dir: dir}
	data, err := f.Load(settingsName, fileMost)
	now, parsed := ReadSettings(data)
	kept, _ := os.ReadFile(filepath.Join(dir, settingsName+".bad"))
	switch {
	case before == "" && errors.Is(err, fs.ErrNotExist):
	case before == broken && string(data) == broken:
	case err != nil || parsed != nil || now.Master != 3 && (now.Master != 8 || before == ""):
		t.Errorf("%s: the settings are %q: %v, %v", at, data, err, parsed)
	case before == broken && string(kept) != broken:
		t.Errorf("%s: the settings are new and their backup is %q", at, kept)
	}
	data, err = f.Load(runsName, fileMost)
	list, parsed := ReadRuns(data)
	if !(before == "" && errors.Is(err, fs.ErrNotExist)) && (err != nil || parsed != nil || len(list) == 0 || before != "" && list[len(list)-1].Score != 500) {
		t.Errorf("%s: the runs are %q: %v, %v", at, data, err, parsed)
	}
}

// abandon makes the temporary files old, so that the next Load sweeps them.
func abandon(t *testing.T, dir string) {
	t.Helper()
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if old := time.Now().Add(-48 * time.Hour); strings.HasPrefix(e.Name(), ".") {
			if err := os.Chtimes(filepath.Join(dir, e.Name()), old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// After a failed sync of the folder the settings are good. The next save must not make them the backup.
func TestFiles_UnsyncedSaveKeepsTheBackup(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, settingsName), []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	for step := 1; step < 99; step++ {
		c := &counted{System: atomicfile.OS(), failAt: step}
		s := New(Config{Store: Files{Dir: dir, system: c}})
		for i := range 2 {
			s.Settings().Master, s.dirty = 1+i, true
			s.Close()
		}
		if kept, _ := os.ReadFile(filepath.Join(dir, settingsName+".bad")); string(kept) != "broken" {
			t.Fatalf("step %d fails (%s): the backup is %q", step, c.call, kept)
		}
		if c.call == "" {
			return
		}
		if err := os.WriteFile(filepath.Join(dir, settingsName), []byte("broken"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Error("there is no end of steps")
}
