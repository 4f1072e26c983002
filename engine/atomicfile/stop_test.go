package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

const (
	oldText    = "the old version, complete"
	newText    = "the new version, complete, and longer"
	olderText  = "the version before the old one"
	target     = "dir/settings.json"
	backup     = target + ".bad"
	stepsLimit = 64 // far above what a Write takes
)

// A state of the folder before Write.
type state struct {
	name    string
	files   map[string]string
	keep    bool // a backup is wanted
	links   bool // the file system has hard links
	foreign bool // the target is another user's
}

var states = []state{
	{"nothing", map[string]string{}, false, true, false},
	{"nothing, backup wanted", map[string]string{}, true, true, false},
	{"old", map[string]string{target: oldText}, false, true, false},
	{"old, backup wanted", map[string]string{target: oldText}, true, true, false},
	{"old, backup wanted, no links", map[string]string{target: oldText}, true, false, false},
	{"old and a backup, another wanted", map[string]string{target: oldText, backup: olderText}, true, true, false},
	{"old and a backup, another wanted, no links", map[string]string{target: oldText, backup: olderText}, true, false, false},
	{"old and a backup, none wanted", map[string]string{target: oldText, backup: olderText}, false, true, false},
	{"old of another user, backup wanted", map[string]string{target: oldText}, true, true, true},
	{"old of another user and a backup, another wanted", map[string]string{target: oldText, backup: olderText}, true, true, true},
}

func (s *state) disk() *disk {
	d := newDisk(s.files)
	d.noLinks = !s.links
	if s.foreign {
		d.names[target].foreign = true
	}
	return d
}

func (s *state) writer(d *disk) Writer {
	w := Writer{System: d}
	if s.keep {
		w.Backup = backup
	}
	return w
}

func (s *state) write(d *disk, text string) error {
	return s.writer(d).Write(target, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
}

// verify returns what is wrong with what a later process finds: target has the old or the new version, and
// a backup is made before the old version goes. Temporary files are swept first. An old version that cannot be
// read may have become the backup.
func (s *state) verify(d *disk, found map[string]string) error {
	found = maps.Clone(found)
	maps.DeleteFunc(found, func(name, _ string) bool { return strings.Contains(name, prefix) })
	now, there := found[target]
	if unreadable := s.foreign || d.fails["open"] && errors.Is(d.reason, fs.ErrPermission); unreadable && !there && found[backup] == oldText {
		return nil
	}
	if old, had := s.files[target]; now != newText && (now != old || there != had) {
		return fmt.Errorf("%s is %q, %v; before it was %q, %v", target, now, there, old, had)
	}
	kept, there := found[backup]
	before, had := s.files[backup]
	switch {
	case s.keep && now == newText && s.files[target] != "" && kept != oldText:
		return fmt.Errorf("the new version is in place and the backup is %q, %v", kept, there)
	case (kept != before || there != had) && !(s.keep && kept == oldText):
		return fmt.Errorf("the backup is %q, %v; before it was %q, %v", kept, there, before, had)
	case len(found) > 2:
		return fmt.Errorf("there are %q", found)
	}
	return nil
}

// A process that is killed between any two calls, or loses its power there, leaves the old or the new version.
func TestWrite_StoppedBetweenTwoCalls(t *testing.T) {
	for _, s := range states {
		stops := 0
		for stop := 1; ; stop++ {
			d := s.disk()
			d.stopAt = stop
			err := s.write(d, newText)
			if err == nil {
				break // it was done before
			}
			if stops = stop; stop > stepsLimit {
				t.Fatalf("%s: Write does not end: %q", s.name, d.calls)
			}
			if err := s.verify(d, d.files()); err != nil {
				t.Errorf("%s: killed after %q: %v", s.name, d.calls, err)
			}
			d.afterPowerCut(func(files map[string]string) {
				if err := s.verify(d, files); err != nil {
					t.Errorf("%s: power cut after %q: %v", s.name, d.calls, err)
				}
			})
			s.again(t, d)
		}
		if stops < 7 { // the calls of a Write without a backup, but for the last
			t.Errorf("%s: only %d calls were stopped at", s.name, stops)
		}
	}
}

// again saves another version on what a killed process left.
func (s *state) again(t *testing.T, d *disk) {
	t.Helper()
	before, calls := d.files(), d.calls
	d.stopAt, d.calls = 0, nil
	const text = "the next version"
	err := s.write(d, text)
	now := d.files()
	want := before[backup]
	if old, had := before[target]; s.keep && had {
		want = old
	}
	if err != nil || now[target] != text || now[backup] != want {
		t.Errorf("%s: killed after %q; saving again: %v, %q", s.name, calls, err, now)
	}
	if left := len(now); left > len(before)+2 {
		t.Errorf("%s: saving again leaves %q of %q", s.name, now, before)
	}
}

// What Write has returned for survives a power cut.
func TestWrite_DoneIsDurable(t *testing.T) {
	for _, s := range states {
		d := s.disk()
		if err := s.write(d, newText); err != nil {
			t.Fatal(err)
		}
		d.afterPowerCut(func(files map[string]string) {
			if err := s.verify(d, files); err != nil || files[target] != newText {
				t.Errorf("%s: %v: %q", s.name, err, files)
			}
		})
		for name := range d.names {
			if strings.Contains(name, prefix) {
				t.Errorf("%s: %s stays", s.name, name)
			}
		}
	}
}

// A call that fails, once or for good, also in a process that is killed later, loses nothing. The error names
// the step, the file and the reason, and the next save works.
func TestWrite_EveryCallFails(t *testing.T) {
	failed := map[string]bool{}
	for _, s := range states {
		for _, reason := range []error{syscall.ENOSPC, syscall.EIO, syscall.EACCES} {
			for _, forever := range []bool{false, true} {
				for fail := 1; s.failure(t, fail, forever, reason, failed); fail++ {
				}
			}
		}
	}
	for _, call := range []string{"create", "write", "set the mode", "sync", "close", "link", "open", "rename", "remove", "sync the folder"} {
		if !failed[call] {
			t.Errorf("no %q failed", call)
		}
	}
}

// failure has one call fail, without a kill and with one at each later call. False: there is no such call.
func (s *state) failure(t *testing.T, fail int, forever bool, reason error, failed map[string]bool) bool {
	t.Helper()
	for stop := fail + 1; stop < stepsLimit; stop++ {
		d := s.disk()
		d.failAt, d.forever, d.reason, d.stopAt = fail, forever, reason, stop
		err := s.write(d, newText)
		if len(d.fails) == 0 {
			return false
		}
		at := fmt.Sprintf("%s: call %d fails (%v, for good: %v), killed after %q", s.name, fail, reason, forever, d.calls)
		if err := s.verify(d, d.files()); err != nil {
			t.Errorf("%s: %v", at, err)
		}
		d.afterPowerCut(func(files map[string]string) {
			if err := s.verify(d, files); err != nil {
				t.Errorf("%s, power cut: %v", at, err)
			}
		})
		if d.step < stop { // it ended by itself
			s.ended(t, d, at, err, forever)
			maps.Copy(failed, d.fails)
			return true
		}
	}
	t.Errorf("%s: Write does not end", s.name)
	return false
}

func (s *state) ended(t *testing.T, d *disk, at string, err error, forever bool) {
	t.Helper()
	switch reached := d.names[target] != nil && string(d.names[target].data) == newText; {
	case err == nil && !reached:
		t.Errorf("%s: no error and no new version", at)
	case errors.Is(err, ErrUnsynced) != (err != nil && reached):
		t.Errorf("%s: %v, and the new version is in place: %v", at, err, reached)
	case err != nil:
		var p *fs.PathError
		if !errors.Is(err, d.reason) || !errors.As(err, &p) || p.Path != target && p.Path != backup || strings.Contains(err.Error(), prefix) {
			t.Errorf("%s: the error is %q", at, err)
		} else if !d.fails[p.Op] {
			t.Errorf("%s: the error is %q, and %v failed", at, err, d.fails)
		}
	}
	if !forever {
		for name := range d.names {
			if strings.Contains(name, prefix) && !d.fails["remove"] {
				t.Errorf("%s: %s stays", at, name)
			}
		}
	}
	d.failAt = 0
	s.again(t, d)
}

// A folder is made with its parents, and each survives a power cut once MakeFolder has returned.
func TestMakeFolder_StoppedFailingAndDurable(t *testing.T) {
	const dir = "home/config/strata"
	fresh := func() *disk {
		d := newDisk(nil)
		d.names["."] = &inode{folder: true}
		d.durable = maps.Clone(d.names)
		return d
	}
	for step := 1; step < 12; step++ {
		for _, fail := range []bool{false, true} {
			d := fresh()
			if d.stopAt = step; fail {
				d.stopAt, d.failAt = 0, step
			}
			err := MakeFolder(d, dir, 0o755)
			if fail && d.fails["stat"] {
				continue // then it is made, and there already
			}
			if done := d.names[dir] != nil && len(d.pending) == 0; (err == nil) != done {
				t.Errorf("step %d of %q: %v, and the folder is there: %v", step, d.calls, err, done)
			}
			if fail && err != nil && (!errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), "folder home") && !strings.Contains(err.Error(), "folder .")) {
				t.Errorf("step %d of %q: %v", step, d.calls, err)
			}
			d.stopAt, d.failAt = 0, 0
			if err := MakeFolder(d, dir, 0o755); err != nil || d.names[dir] == nil {
				t.Errorf("step %d, again: %v", step, err)
			}
		}
	}
	d := fresh()
	d.names["home"] = &inode{}
	if err := MakeFolder(d, dir, 0o755); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("a folder in a file: %v", err)
	}
}

// syncs is the system, and the folders that were synced.
type syncs struct {
	System
	folders []string
}

func (s *syncs) SyncFolder(dir string) error {
	s.folders = append(s.folders, filepath.Clean(dir))
	return s.System.SyncFolder(dir)
}

// A name may end with separators: the folder that is synced is the parent nevertheless, not the new folder itself.
func TestMakeFolder_OfANameWithASlashSyncsTheParent(t *testing.T) {
	for _, end := range []string{"", "/", "//", string(filepath.Separator)} {
		root := t.TempDir()
		s := &syncs{System: OS()}
		if err := MakeFolder(s, root+"/a"+end, 0o755); err != nil || !slices.Equal(s.folders, []string{root}) {
			t.Errorf("a%s: %v, synced %q, want %q", end, err, s.folders, root)
		}
		s.folders = nil
		if err := MakeFolder(s, root+"/b/c"+end, 0o755); err != nil || !slices.Equal(s.folders, []string{root, filepath.Join(root, "b")}) {
			t.Errorf("b/c%s: %v, synced %q, want %q and b in it", end, err, s.folders, root)
		}
	}
}
