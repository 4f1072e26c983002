package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/demo/view"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/engine/cmdline/cmdtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

func TestHelp_HasEachFlagOnceInItsGroup(t *testing.T) {
	code, _, text := demo("-help")
	if code != 0 || !strings.Contains(text, "Examples:") {
		t.Fatalf("exit %d: %s", code, text)
	}
	listed := map[string]int{}
	for _, g := range groups {
		if !strings.Contains(text, "\n"+g.title+":\n") {
			t.Errorf("no group %q", g.title)
		}
		for name := range strings.FieldsSeq(g.flags) {
			listed[name]++
		}
	}
	all := flag.NewFlagSet("", flag.ContinueOnError)
	new(options).declare(all)
	all.VisitAll(func(f *flag.Flag) {
		if listed[f.Name] != 1 || !regexp.MustCompile(`(?m)^  -`+f.Name+`\b`).MatchString(text) {
			t.Errorf("-%s is listed %d times", f.Name, listed[f.Name])
		}
	})
	for line := range strings.Lines(text[strings.Index(text, "Examples:"):]) {
		if args := strings.Fields(line); len(args) > 1 && args[0] == "demo" && args[1][0] == '-' {
			end := len(args)
			for i, a := range args { // what follows three spaces is prose
				if strings.Contains(line, "   "+a+" ") && i > 1 {
					end = i
					break
				}
			}
			if o, err := parse(args[1:end], os.Stderr, assets.FS()); err != nil || o == nil {
				t.Errorf("the example %q: %v", args[:end], err)
			}
		}
	}
}

func TestVersion_IsOneLine(t *testing.T) {
	code, out, errs := demo("-version")
	if code != 0 || errs != "" || !regexp.MustCompile(`^strata demo \S.* go\S+ \w+/\w+\n$`).MatchString(out) {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
}

// A full disk was exit 0.
func TestOutput_AFullDiskExitsWith1(t *testing.T) {
	for _, args := range []string{"-version", "-notices", "-headless -synctest 2 -ticks 4"} {
		var fault bytes.Buffer
		if code := run(strings.Fields(args), cmdtest.FullDisk{}, &fault); code != 1 || fault.String() != "demo: no space left\n" {
			t.Errorf("%s: exit %d, %q", args, code, &fault)
		}
	}
}

func TestPaths_EachIsTriedBeforePlay(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "no", "such", "x")
	for _, args := range [][]string{
		{"-stats", bad + ".json"}, {"-screenshot", bad + ".png"}, {"-capture", bad + ".gif"},
	} {
		// A program that played before it tried the path would not end before the deadline.
		code, out, errs := demo(append(args, "-ticks", "100000000")...)
		if code != 1 || out != "" || !strings.Contains(errs, "cannot write "+args[1]) {
			t.Errorf("%v: exit %d, %q, %q", args, code, out, errs)
		}
	}
	free := filepath.Join(dir, "a.json")
	if code, _, errs := demo("-headless", "-ticks", "60", "-stats", free, "-trace", free); code != 1 || !strings.Contains(errs, "name two") {
		t.Errorf("exit %d, %q", code, errs)
	}
	folder := filepath.Join(dir, "folder.json")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := demo("-headless", "-ticks", "60", "-stats", folder); code != 1 || !strings.Contains(errs, "is a folder") {
		t.Errorf("exit %d, %q", code, errs)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestEvery_WritesARowForEachNTicks(t *testing.T) {
	testenv.Long(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "out.csv")
	if code, _, errs := demo("-headless", "-ticks", "100", "-seed", "7", "-every", "10", "-stats", path); code != 0 {
		t.Fatal(errs)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != 11 || len(rows[0]) != 6+3*tiers.Count+13 {
		t.Fatalf("%d rows of %d, %v", len(rows), len(rows[0]), err)
	}
	for i, row := range rows[1:] {
		if row[0] != strconv.Itoa(10*(i+1)) {
			t.Errorf("row %d is of tick %s", i, row[0])
		}
		for k, cell := range row {
			if v, err := strconv.ParseFloat(cell, 64); err != nil || v < 0 {
				t.Errorf("row %d: %s is %q", i, rows[0][k], cell)
			}
		}
	}
	path = filepath.Join(dir, "out.json")
	if code, _, errs := demo("-headless", "-ticks", "100", "-every", "30", "-stats", path); code != 0 {
		t.Fatal(errs)
	}
	var r report
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil || len(r.Series) != 3 || r.Series[2].Tick != 90 || r.Series[2].Tiers[tiers.Pools].InUse == 0 || r.Series[2].MeanMS <= 0 {
		t.Errorf("%v, %+v", err, r.Series)
	}
}

// The series is taken without a change to what it watches.
func TestEvery_DoesNotChangeTheHash(t *testing.T) {
	testenv.Long(t)
	path := filepath.Join(t.TempDir(), "out.json")
	_, a, _ := demo("-headless", "-ticks", "100", "-hash")
	_, b, _ := demo("-headless", "-ticks", "100", "-hash", "-every", "7", "-stats", path)
	_, ha, ok := strings.Cut(a, "hash ")
	_, hb, _ := strings.Cut(b, "hash ")
	if !ok || ha != hb {
		t.Errorf("%q and %q", ha, hb)
	}
}

func TestProgress_IsALineEveryFiveSecondsForWhoAsks(t *testing.T) {
	testenv.Long(t)
	s, err := session.New((&options{headless: true, particles: 100, realm: "ember"}).session())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for s.Game.Ticks < 64 && err == nil {
		err = s.Frame(engine.Input{})
		s.Attract = false
	}
	if err != nil {
		t.Fatal(err)
	}
	var out, none strings.Builder
	for _, asked := range []bool{true, false} {
		o := &options{progress: asked, stderr: &out}
		if !asked {
			o.stderr = &none
		}
		p := o.newProgress(640)
		p.tell(s)
		p.last = p.last.Add(-progressEvery)
		p.tell(s)
		p.tell(s)
	}
	if n := strings.Count(out.String(), "\n"); n != 1 || !strings.Contains(out.String(), "tick 64 of 640, 10%") || none.String() != "" {
		t.Errorf("%q and %q", &out, &none)
	}
}

// newTestApp is an app without a window, once its first realm is played.
func newTestApp(t *testing.T) *app {
	t.Helper()
	o := &options{headless: true, particles: 500, realm: "ember", config: t.TempDir(), stderr: new(strings.Builder), stopped: atomic.Bool{}}
	cfg := o.session()
	cfg.Attract = true
	s, err := session.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	v, err := view.New()
	if err == nil {
		err = v.Show(s, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	a := o.newApp(s, v, nil, nil)
	t.Cleanup(func() {
		if _, err := o.finish(s, nil, nil, v.Overlay.Close()); err != nil {
			t.Error(err)
		}
	})
	a.until(t, func() bool { return s.Game.Ticks > 5 })
	return a
}

// tick is one frame as Update does it, without the window's part.
func (a *app) tick(t *testing.T, in render.Input) {
	t.Helper()
	if cmd := a.step(&in); cmd != shell.None && cmd != shell.SettingsChanged {
		a.do(cmd)
	}
	if err := a.frame(&in); err != nil {
		t.Fatal(err)
	}
}

func (a *app) until(t *testing.T, there func() bool) {
	t.Helper()
	for range 20_000 {
		if there() {
			return
		}
		a.tick(t, render.Input{})
		if !a.s.Playing() {
			time.Sleep(100 * time.Microsecond)
		}
	}
	t.Fatalf("it never comes to that: screen %d, tick %d, phase %d for %v s, hull %d", a.sh.Screen(), a.s.Game.Ticks, a.s.Game.Phase, a.s.Game.PhaseTime, a.s.Game.Player.Hull)
}

func TestApp_FromTheTitleIntoAGameAndBack(t *testing.T) {
	a := newTestApp(t)
	if !a.s.Attract {
		t.Fatal("nobody plays behind the title")
	}
	a.tick(t, render.Input{Nav: render.Nav{Select: true}})
	a.until(t, func() bool { return !a.s.Attract && a.s.Playing() && a.s.Game.Played > 3 })
	if a.sh.Screen() != shell.Playing {
		t.Fatalf("screen %d", a.sh.Screen())
	}
	before := a.s.Game.Ticks
	a.focus(true)
	a.focus(false)
	for range 10 {
		a.tick(t, render.Input{Fire: true})
	}
	if a.sh.Screen() != shell.Paused || a.s.Game.Ticks != before {
		t.Errorf("without the focus: screen %d, %d ticks more", a.sh.Screen(), a.s.Game.Ticks-before)
	}
	a.tick(t, render.Input{Pause: true})
	a.tick(t, render.Input{})
	if a.s.Game.Ticks == before {
		t.Error("it does not go on")
	}
	a.tick(t, render.Input{Pause: true})
	a.tick(t, render.Input{Nav: render.Nav{Up: true}})
	a.tick(t, render.Input{Nav: render.Nav{Select: true}}) // the last one: to the title
	for range 40 {
		a.tick(t, render.Input{})
	}
	a.tick(t, render.Input{Nav: render.Nav{Up: true}})
	a.tick(t, render.Input{Nav: render.Nav{Select: true}}) // yes
	a.until(t, func() bool { return a.s.Attract && a.s.Playing() })
	if a.sh.Screen() != shell.Title {
		t.Errorf("screen %d", a.sh.Screen())
	}
}

func TestApp_AGameThatIsLostIsInTheTable(t *testing.T) {
	testenv.Long(t)
	a := newTestApp(t)
	a.tick(t, render.Input{Nav: render.Nav{Select: true}})
	a.until(t, func() bool { return !a.s.Attract && a.s.Playing() && a.s.Game.Played > 3 })
	a.until(t, func() bool { return a.s.Game.Played > 100 })
	a.s.Game.Phase, a.s.Game.PhaseTime = game.Over, 0 // whatever the rules are
	a.until(t, func() bool { return a.sh.Screen() == shell.Over })
	if a.s.Game.PhaseTime < overAfter {
		t.Errorf("after %v s: the last burst is not seen", a.s.Game.PhaseTime)
	}
	r, place, _ := a.sh.Result()
	if place != 0 || r.Realm == "" || r.Ticks == 0 || len(r.Figures) < 5 {
		t.Errorf("place %d, %+v", place, r)
	}
	if _, err := os.Stat(filepath.Join(a.o.config, "runs.json")); err != nil {
		t.Error(err)
	}
	for range 60 {
		a.tick(t, render.Input{})
	}
	a.tick(t, render.Input{Restart: true})
	a.until(t, func() bool { return a.s.Playing() && a.s.Game.Played > 0 && a.s.Game.Played < 60 })
	if a.sh.Screen() != shell.Playing || a.s.Attract {
		t.Errorf("screen %d", a.sh.Screen())
	}
}
