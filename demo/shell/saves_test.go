package shell_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/shell"
)

// slot presses slot n, from 1, on the screen of the saved runs.
func slot(t *testing.T, s *shell.Shell, n int) shell.Command {
	t.Helper()
	for range s.Items() {
		for _, it := range s.Items() {
			if it.Selected && it.Kind == shell.SlotRow && it.Label == string(rune('0'+n)) {
				return s.Step(shell.Nav{Select: true})
			}
		}
		s.Step(shell.Nav{Down: true})
	}
	t.Fatalf("slot %d cannot be reached", n)
	return shell.None
}

// labels returns the items of the screen.
func labels(s *shell.Shell) (all string) {
	for _, it := range s.Items() {
		all += it.Label + " " + it.Value + "\n"
	}
	return all
}

func TestShell_SavesReplacesAndDeletes(t *testing.T) {
	d := newDesk(t, memory{}, func(c *shell.Config) { c.Saves = true })
	if strings.Contains(labels(d.Shell), "CONTINUE") {
		t.Error("CONTINUE without a saved run")
	}
	d.choose(t, "PLAY")
	d.Step(shell.Nav{Pause: true})
	d.choose(t, "SAVE / LOAD")
	if d.Screen() != shell.Saved || !strings.Contains(labels(d.Shell), "ACTION SAVE") || d.Running() {
		t.Fatalf("screen %d:\n%s", d.Screen(), labels(d.Shell))
	}
	if cmd := slot(t, d.Shell, 2); cmd != shell.SaveRun || d.Slot() != 1 {
		t.Fatalf("command %d in slot %d", cmd, d.Slot())
	}
	d.SetSave(1, &shell.Save{Realm: "EMBER"})
	if cmd := slot(t, d.Shell, 2); cmd != shell.None || !strings.Contains(d.Note(), "AGAIN TO REPLACE") {
		t.Errorf("command %d, %q", cmd, d.Note())
	}
	d.Step(shell.Nav{Down: true}) // elsewhere in between
	if cmd := slot(t, d.Shell, 2); cmd != shell.None {
		t.Errorf("a press elsewhere counts: command %d", cmd)
	}
	if cmd := slot(t, d.Shell, 2); cmd != shell.SaveRun {
		t.Errorf("the second press is command %d", cmd)
	}
	d.choose(t, "ACTION") // LOAD
	if cmd := slot(t, d.Shell, 1); cmd != shell.None || !strings.Contains(d.Note(), "EMPTY") {
		t.Errorf("an empty slot: command %d, %q", cmd, d.Note())
	}
	if cmd := slot(t, d.Shell, 2); cmd != shell.LoadRun {
		t.Errorf("command %d", cmd)
	}
	d.Say("NOT LOADED: IT IS A TEST")
	if d.Screen() != shell.Saved || d.Note() != "NOT LOADED: IT IS A TEST" {
		t.Errorf("screen %d, %q", d.Screen(), d.Note())
	}
	d.choose(t, "ACTION") // DELETE
	if first, second := slot(t, d.Shell, 2), slot(t, d.Shell, 2); first != shell.None || second != shell.DeleteRun {
		t.Errorf("commands %d and %d", first, second)
	}
	d.Step(shell.Nav{Back: true})
	if d.Screen() != shell.Paused {
		t.Errorf("back leads to screen %d", d.Screen())
	}
}

func TestShell_ContinueLoadsARun(t *testing.T) {
	d := newDesk(t, memory{}, func(c *shell.Config) { c.Saves = true })
	d.SetSave(3, &shell.Save{Realm: "TIDE"})
	d.choose(t, "CONTINUE")
	if strings.Contains(labels(d.Shell), "ACTION SAVE") || !d.Running() || !d.Attract() {
		t.Errorf("the title can save:\n%s", labels(d.Shell))
	}
	if cmd := slot(t, d.Shell, 4); cmd != shell.LoadRun || d.Slot() != 3 {
		t.Fatalf("command %d", cmd)
	}
	d.Loaded("2026-11-24")
	if d.Screen() != shell.Playing || d.Day() != "2026-11-24" {
		t.Errorf("screen %d, day %q", d.Screen(), d.Day())
	}
	d.Lost("IT IS GONE")
	if d.Screen() != shell.Title || d.Note() != "IT IS GONE" {
		t.Errorf("screen %d, %q", d.Screen(), d.Note())
	}
}

func TestFiles_RemoveDeletesTheBackupToo(t *testing.T) {
	f := shell.Files{Dir: filepath.Join(t.TempDir(), "strata")}
	for _, data := range []string{"one", "two"} {
		if err := f.Save("run1.strata", []byte(data), true); err != nil {
			t.Fatal(err)
		}
	}
	if old, err := os.ReadFile(f.Place("run1.strata") + ".bad"); err != nil || string(old) != "one" {
		t.Fatalf("the backup is %q, %v", old, err)
	}
	for range 2 { // the second time there is nothing
		if err := f.Remove("run1.strata"); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := os.ReadDir(f.Dir); err != nil || len(left) != 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	if _, err := f.Load("run1.strata", 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// On a phone held sideways the item to go back lay over the prompt.
func TestPlace_SlotsLieAboveThePrompt(t *testing.T) {
	d := newDesk(t, memory{}, func(c *shell.Config) { c.Saves = true })
	d.choose(t, "PLAY")
	d.Step(shell.Nav{Pause: true})
	d.choose(t, "SAVE / LOAD")
	for _, c := range []shell.Canvas{{W: 640, H: 360}, {W: 473, H: 267, Finger: 36.7}, {W: 577, H: 325, Finger: 36.7}, {W: 460, H: 258}, {W: 325, H: 703, Finger: 36.7}, {W: 258, H: 460, Finger: 38}} {
		d.Place(c)
		items := d.Items()
		for i, it := range items {
			b := it.Box
			if b.X < 0 || b.X+b.W > c.W || b.Y < c.Head() || b.Y+b.H > c.H-c.Foot()+0.1 || b.H < max(24, c.Finger) {
				t.Errorf("%+v: %s lies at %+v", c, it.Label, b)
			}
			for _, o := range items[:i] {
				if o := o.Box; b.X < o.X+o.W && o.X < b.X+b.W && b.Y < o.Y+o.H-0.1 && o.Y < b.Y+b.H-0.1 {
					t.Errorf("%+v: %s at %+v lies over %+v", c, it.Label, b, o)
				}
			}
		}
	}
}
