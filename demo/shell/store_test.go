package shell_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/engine/atomicfile"
)

// memory is a Store in a map.
type memory map[string]string

func (m memory) Load(name string, most int) ([]byte, error) {
	if data, ok := m[name]; ok {
		return []byte(data), nil
	}
	return nil, fs.ErrNotExist
}

func (m memory) Save(name string, data []byte, aside bool) error {
	if aside {
		m[name+".bad"] = m[name]
	}
	m[name] = string(data)
	return nil
}

func (m memory) Place(name string) string { return name }

// broken are files that no version of this program wrote for this one to read.
var broken = map[string]string{
	"":                                       "not JSON",
	"{":                                      "not JSON",
	"[]":                                     "not JSON",
	`{"kind":"doom config","version":1}`:     "its kind is",
	`{"version":1}`:                          "its kind is",
	`{"kind":"strata settings","version":2}`: "version 2; this program reads version 1",
	`{"kind":"strata settings","version":0}`: "version 0",
	`{"kind":"strata settings","version":1,"master":11}`:                                "master is 11; allowed are 0 to 10",
	`{"kind":"strata settings","version":1,"shake":-1}`:                                 "shake is -1",
	`{"kind":"strata settings","version":1,"bloom":"much"}`:                             "allowed are auto, on and off",
	`{"kind":"strata settings","version":1,"colour":3}`:                                 `unknown field "colour"`,
	`{"kind":"strata settings","version":1,"keys":{"jump":["A"]}}`:                      "unknown action",
	`{"kind":"strata settings","version":1} x`:                                          "not JSON",
	strings.Repeat(" ", 65<<10):                                                         "more than 65536 bytes",
	`{"kind":"strata settings","version":1,"` + strings.Repeat("x", 9999) + `":3}`:      `unknown field "xxxx`,
	`{"kind":"strata settings","version":1,"master":` + strings.Repeat("9", 9999) + `}`: "cannot unmarshal number 9999",
	`{"kind":"strata settings","version":` + strings.Repeat("9", 9999) + `}`:            "cannot unmarshal number 9999",
}

func TestStore_ABrokenFileIsNamedAndKeptAside(t *testing.T) {
	for data, want := range broken {
		dir := t.TempDir()
		path := filepath.Join(dir, "settings.json")
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		d := newDesk(t, shell.Files{Dir: dir})
		if len(d.log) != 1 || !strings.Contains(d.log[0], path) || !strings.Contains(d.log[0], want) || strings.Contains(d.log[0], "\n") || len(d.log[0]) > 300+len(path) {
			t.Errorf("%.60q: %.400q, want %q", data, d.log, want)
		}
		if !reflect.DeepEqual(*d.Settings(), shell.DefaultSettings()) {
			t.Errorf("%.60q leaves %+v", data, d.Settings())
		}
		if now, _ := os.ReadFile(path); string(now) != data {
			t.Errorf("%.60q was touched before a save", data)
		}
		d.Step(shell.Nav{Mute: true})
		if old, _ := os.ReadFile(path + ".bad"); string(old) != data {
			t.Errorf("%.60q is not kept: %.60q", data, old)
		}
		if again := newDesk(t, shell.Files{Dir: dir}); len(again.log) > 0 || !again.Settings().Mute {
			t.Errorf("after a save: %q, %+v", again.log, again.Settings())
		}
	}
}

func TestStore_WhatIsNoFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "settings.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if d := newDesk(t, shell.Files{Dir: dir}); len(d.log) != 1 || !strings.Contains(d.log[0], "not a plain file") {
		t.Errorf("%q", d.log)
	}
}

func TestStore_WithoutPermissionItIsSaidOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, shell.Files{Dir: filepath.Join(file, "strata")}) // a folder in a file: impossible
	for range 3 {
		d.Step(shell.Nav{Mute: true})
	}
	saved := 0
	for _, l := range d.log {
		if strings.Contains(l, "cannot be saved") {
			saved++
		}
	}
	if saved != 1 || !d.Settings().Mute {
		t.Errorf("%q", d.log)
	}
}

// failing is a Store whose saves fail with an error.
type failing struct {
	memory
	err error
}

func (f *failing) Save(string, []byte, bool) error { return f.err }

func TestStore_AFailureAfterAnUnsyncedSaveIsSaid(t *testing.T) {
	store := &failing{memory{}, atomicfile.ErrUnsynced}
	d := newDesk(t, store)
	for range 2 {
		d.Step(shell.Nav{Mute: true})
	}
	store.err = fs.ErrPermission
	for range 2 {
		d.Step(shell.Nav{Mute: true})
	}
	if len(d.log) != 2 || !strings.Contains(d.log[0], "is saved") || !strings.Contains(d.log[1], "cannot be saved") {
		t.Errorf("%q", d.log)
	}
}

func TestStore_LeavesNothingElseInTheFolder(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, shell.Files{Dir: filepath.Join(dir, "strata")})
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Error("a folder is made before anything is saved")
	}
	for range 5 {
		d.Step(shell.Nav{Mute: true})
	}
	entries, err := os.ReadDir(filepath.Join(dir, "strata"))
	if err != nil || len(entries) != 1 || entries[0].Name() != "settings.json" {
		t.Errorf("%v, %v", entries, err)
	}
	if info, err := entries[0].Info(); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 && info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestRuns_TheBestTenAreKeptInOrder(t *testing.T) {
	store := memory{}
	d := newDesk(t, store)
	for i := range 12 {
		d.choose(t, "PLAY")
		d.End(shell.Result{Run: shell.Run{Score: int64(i*7%12) * 100, Realm: "TIDE", Ticks: 60, Seed: uint64(i)}})
		d.wait()
		d.choose(t, "TITLE")
	}
	again := newDesk(t, store)
	runs := again.Runs()
	if len(runs) != shell.BestRuns || runs[0].Score != 1100 || runs[9].Score != 200 {
		t.Errorf("%+v", runs)
	}
	again.choose(t, "PLAY")
	again.End(shell.Result{Run: shell.Run{Score: 100}})
	if _, place, best := again.Result(); place != -1 || best != 1100 {
		t.Errorf("place %d, best %d", place, best)
	}
	again.wait()
	again.Step(shell.Nav{Restart: true})
	again.End(shell.Result{Run: shell.Run{Score: 1100, Ticks: 59}})
	if _, place, _ := again.Result(); place != 0 {
		t.Errorf("an equal score in less time stands at %d", place)
	}
}

// The second of two games at once saved its own table over that of the first. A run that is replaced leaves both.
func TestRuns_TwoGamesAtOnceLoseNoRun(t *testing.T) {
	store := memory{}
	a, b := newDesk(t, store), newDesk(t, store)
	a.Keep(shell.Run{Score: 100, Seed: 1})
	b.Keep(shell.Run{Score: 200, Seed: 2})
	a.Keep(shell.Run{Score: 300, Seed: 1}) // the same game, further
	b.Begun()
	b.Keep(shell.Run{Score: 50, Seed: 2})
	want := []shell.Run{{Score: 300, Seed: 1}, {Score: 200, Seed: 2}, {Score: 50, Seed: 2}}
	if got := newDesk(t, store).Runs(); !slices.Equal(got, want) {
		t.Errorf("saved are %+v, want %+v", got, want)
	}
	good := store["runs.json"]
	store["runs.json"] = strings.Replace(good, `"version": 1`, `"version": 2`, 1) // a later version runs, too
	a.Begun()
	a.Keep(shell.Run{Score: 70, Seed: 3})
	if store["runs.json.bad"] == "" || len(a.Runs()) < 2 {
		t.Errorf("the table of a later version has no backup: %q, and the runs are %+v", store, a.Runs())
	}
	later := `{"kind":"strata settings","version":2}`
	store["settings.json"] = later
	if a.Step(shell.Nav{Mute: true}); store["settings.json.bad"] != later {
		t.Errorf("the settings of a later version have no backup: %q", store)
	}
}

func TestRuns_AForeignTableIsNamed(t *testing.T) {
	for data, want := range map[string]string{
		`{"kind":"strata settings","version":1}`:                                          "its kind is",
		`{"kind":"strata runs","version":1,"runs":[{"score":-1}]}`:                        "score -1",
		`{"kind":"strata runs","version":1,"runs":[` + strings.Repeat("{},", 10) + `{}]}`: "11 runs",
		`{"kind":"strata runs","version":1,"runs":[{"score":1e99}]}`:                      "cannot unmarshal",
	} {
		if d := newDesk(t, memory{"runs.json": data}); len(d.log) != 1 || !strings.Contains(d.log[0], want) {
			t.Errorf("%s: %q, want %q", data, d.log, want)
		}
	}
}

func FuzzReadSettings(f *testing.F) {
	good, err := shell.WriteSettings(shell.DefaultSettings())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	for data := range broken {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := shell.ReadSettings(data)
		if err != nil {
			if len(err.Error()) > 200 {
				t.Fatalf("%d bytes of error", len(err.Error()))
			}
			return
		}
		out, err := shell.WriteSettings(s)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := shell.ReadSettings(out); err != nil || back.Master != s.Master || back.Bloom != s.Bloom || len(back.Keys) != len(s.Keys) {
			t.Errorf("%+v came back as %+v, %v", s, back, err)
		}
	})
}
