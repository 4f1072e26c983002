package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/realm/manifest"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/demo/shell"
)

// press chooses an item of the menus by its label.
func press(t *testing.T, a *app, in func(shell.Nav), label string) {
	t.Helper()
	for range 40 {
		for _, it := range a.sh.Items() {
			if it.Selected && it.Label == label {
				in(shell.Nav{Select: true})
				return
			}
		}
		in(shell.Nav{Down: true})
	}
	t.Fatalf("screen %d has no %q: %q", a.sh.Screen(), label, a.sh.Note())
}

// A run is saved in the pause, loaded after a restart of the program, and has the same hash. A damaged file is one line.
func TestSaves_ARunSurvivesARestart(t *testing.T) {
	store := shell.Files{Dir: t.TempDir()}
	a, in := offered(t)
	keep := func(a *app) {
		a.store = store
		a.sh = shell.New(shell.Config{Playing: true, Saves: true, Store: store})
		a.showSaves()
	}
	keep(a)
	a.s.Game.Offered = false
	wait(in, 30)
	in(shell.Nav{Pause: true})
	press(t, a, in, "SAVE / LOAD")
	press(t, a, in, "2")
	if a.sh.Note() != "SAVED" {
		t.Fatalf("%q", a.sh.Note())
	}
	if when := a.sh.Items()[2].Save.When; !regexp.MustCompile(`^\d+ [A-Z]+ \d\d:\d\d$`).MatchString(when) {
		t.Errorf("saved at %q", when)
	}
	hash, ticks := a.s.Game.Hash(), a.s.Game.Ticks

	b, in := offered(t)
	keep(b)
	wait(in, 10)
	in(shell.Nav{Pause: true})
	press(t, b, in, "SAVE / LOAD")
	press(t, b, in, "ACTION") // LOAD
	loads := func(want string) {
		t.Helper()
		before := b.s.Game.Hash()
		press(t, b, in, "2")
		if !strings.Contains(b.sh.Note(), want) || b.sh.Screen() != shell.Saved || b.s.Game.Hash() != before {
			t.Errorf("%q on screen %d, want %q", b.sh.Note(), b.sh.Screen(), want)
		}
	}
	file, err := os.ReadFile(store.Place(saveName(1)))
	if err != nil {
		t.Fatal(err)
	}
	damaged := append([]byte(nil), file...)
	damaged[len(damaged)/2] ^= 1
	for data, want := range map[string]string{string(damaged): "CHECKSUM", string(file[:len(file)-9]): "IT ENDS AFTER", string(file[:900]): "BYTES ABOUT THE RUN", "{}": "NO SAVED RUN"} {
		if err := os.WriteFile(store.Place(saveName(1)), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		loads("NOT LOADED: ")
		if !strings.Contains(b.sh.Note(), want) {
			t.Errorf("%q, want %q", b.sh.Note(), want)
		}
	}
	if err := os.WriteFile(store.Place(saveName(1)), file, 0o600); err != nil {
		t.Fatal(err)
	}
	press(t, b, in, "2")
	if b.sh.Screen() != shell.Playing || b.s.Playing() {
		t.Fatalf("screen %d, %q", b.sh.Screen(), b.sh.Note())
	}
	b.sh.FocusLost() // it loads, and waits
	b.arrive(t, in)
	if b.s.Game.Ticks != ticks || b.s.Game.Hash() != hash || b.seed != 2 {
		t.Errorf("tick %d with hash %x, want %d with %x", b.s.Game.Ticks, b.s.Game.Hash(), ticks, hash)
	}
	if b.s.Game.Phase > game.Over || b.s.Game.Check() != nil {
		t.Error(b.s.Game.Check())
	}
}

// A player can pause while a realm loads. Then there is no realm to save, or it has ended.
func TestSaves_NothingIsSavedOrCountedWhileARealmLoads(t *testing.T) {
	s, err := session.New(session.Config{FS: assets.FS()})
	if err != nil {
		t.Fatal(err)
	}
	a := &app{o: &options{realm: "ember"}, s: s, store: shell.Files{Dir: t.TempDir()}, sh: shell.New(shell.Config{Playing: true, Saves: true})}
	a.saveRun(0)
	if a.sh.Note() != "NOT SAVED: NO REALM IS PLAYED" {
		t.Errorf("%q", a.sh.Note())
	}
	// A saved run loads. The figures are those of the game before it.
	s.Game.Manifest, s.Game.Played, s.Game.Score = &manifest.File{Name: "ember"}, 600, 5000
	a.live, a.loading = true, true
	a.keep()
	if n := len(a.sh.Runs()); n != 0 {
		t.Errorf("%d runs in the table", n)
	}
	a.loading = false
	a.keep()
	if n := len(a.sh.Runs()); n != 1 {
		t.Errorf("%d runs in the table after the load", n)
	}
	s.Game.Manifest = nil
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
