package game

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/realm/manifest"
	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

var update = flag.Bool("update", false, "write the golden traces of testdata again")

// A scene is one situation: how it is made, what the player does, and after which ticks the trace shows what has
// changed.
type scene struct {
	name string
	set  func(s *stage)
	in   func(tick int) engine.Input // nil: nothing
	auto bool                        // the autopilot plays
	at   []int
	show string // names of the facts to show; empty: all
}

// A stage is a realm without walls but its edge, where the player is at the origin, no horde arrives, and the fight
// has begun.
type stage struct {
	*host
	t      *testing.T
	tracer *tracer
}

func newStage(t *testing.T) *stage { return stageOf(t, Config{}) }

func stageOf(t *testing.T, cfg Config) *stage {
	tr := &tracer{}
	cfg.Seed, cfg.Sound, cfg.Particles = 7, tr, 4000
	h := newHost(t, cfg, small(), "")
	tr.g = h.Game
	return &stage{host: h, t: t, tracer: tr}
}

// middle is where the player starts on a stage.
var middle = vec{6000, 6000}

// clear begins the realm again, as if it were the first.
func (s *stage) clear() {
	if s.Realm != nil {
		if leaks := s.end(s.t); leaks.Any() {
			s.t.Errorf("the scene before leaks %+v", leaks)
		}
	}
	s.State = State{rng: engine.NewRand(7, 1)}
	s.Restart()
	s.fresh = 0 // every blow counts
	done(s.t, s.m.BeginLevel())
	info := realm.Unknown("stage")
	info.Start, info.Heart = realm.Point(middle), realm.Point{6000, 4000}
	info.Seals = [realm.Seals]realm.Point{{5000, 5000}, {7000, 5000}, {5000, 7000}, {7000, 7000}}
	done(s.t, s.Begin(&manifest.File{Name: "stage"}, realm.Bare(info)))
	s.enter(Fighting)
	s.owed = -1e6
	s.Player.Safe = 0
	s.tracer.origin = middle
	s.tracer.facts()
}

// off returns a place by its offset from the middle.
func off(x, y float32) vec { return middle.Add(vec{x, y}) }

// enemy puts an enemy of the horde at an offset.
func (s *stage) enemy(k realm.Enemy, x, y float32) ecs.Entity { return s.guard(k, x, y, postHorde) }

func (s *stage) guard(k realm.Enemy, x, y float32, post uint8) ecs.Entity {
	id, err := s.cast.spawn(s.Game, k, off(x, y), vec{}, post)
	done(s.t, err)
	return id
}

// crowd puts enemies with hulls that last about the player, in two rings.
func (s *stage) crowd() {
	for i := range 12 {
		to := engine.Scale(engine.Heading(float32(i)*0.55), 46+float32(i%2)*50)
		_, _, e, _ := s.cast.enemies.Get(s.enemy(realm.Drifter, to[0], to[1]))
		e.HP = 60
	}
	s.Player.Safe = 60
}

// shot sends one of the player's shots at an offset.
func (s *stage) shot(x, y float32, damage int16) {
	done(s.t, s.cast.shoot(s.Game, off(x, y), vec{}, Shot{Life: 1, Damage: damage}))
}

// trace plays a scene and returns its trace: for each tick that is shown the facts that have changed since the one
// before, and then the digest of all ticks.
func (s *stage) trace(sc scene) string {
	var b strings.Builder
	s.clear()
	old := s.tracer.facts()
	sc.set(s)
	var all digest
	all.add(s.Game)
	tick := 0
	for _, until := range sc.at {
		for ; tick < until; tick++ {
			var in engine.Input
			switch {
			case sc.auto:
				in = s.Autopilot()
			case sc.in != nil:
				in = sc.in(tick + 1)
			}
			s.frame(s.t, in)
			all.add(s.Game)
		}
		now := s.tracer.facts()
		name := fmt.Sprint("tick ", tick)
		for i, f := range now {
			if f.value == old[i].value || sc.show != "" && !slices.Contains(strings.Fields(sc.show), f.name) {
				continue
			}
			if f.value == "" {
				f.value = "none"
			}
			fmt.Fprintf(&b, "%-8s %-9s %s\n", name, f.name, f.value)
			name = ""
		}
		old = now
	}
	if err := s.Check(); err != nil {
		s.t.Errorf("%s: %v", sc.name, err)
	}
	fmt.Fprintf(&b, "digest   %v\n", &all)
	return b.String()
}

// A record is a file of testdata, in parts with a name each.
type record struct {
	path string
	want map[string]string
}

func open(t *testing.T, file string) *record {
	r := &record{path: filepath.Join("testdata", file), want: map[string]string{}}
	data, err := os.ReadFile(r.path)
	if *update && os.IsNotExist(err) {
		return r
	}
	done(t, err)
	for _, part := range strings.Split(strings.ReplaceAll("\n"+string(data), "\r\n", "\n"), "\n== ")[1:] {
		name, text, _ := strings.Cut(part, "\n")
		r.want[name] = strings.TrimRight(text, "\n")
	}
	return r
}

// compare compares a part with the file's, and shows the lines between the first and the last difference.
func (r *record) compare(t *testing.T, name, got string) {
	t.Helper()
	got = strings.TrimRight(got, "\n")
	if *update {
		r.want[name] = got
		return
	}
	a, b := strings.Split(r.want[name], "\n"), strings.Split(got, "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a)+len(b) > 0 {
		t.Errorf("%s, %q: want\n%s\ngot\n%s", r.path, name, strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
}

// close reports parts of the file that have no such name, or writes the file.
func (r *record) close(t *testing.T, names []string) {
	if *update {
		var b strings.Builder
		for _, name := range names {
			fmt.Fprintf(&b, "== %s\n%s\n\n", name, r.want[name])
		}
		done(t, os.WriteFile(r.path, []byte(strings.TrimRight(b.String(), "\n")+"\n"), 0o666))
		return
	}
	for name := range r.want {
		if !slices.Contains(names, name) {
			t.Errorf("%s: nothing is called %q", r.path, name)
		}
	}
}

// The traces are in testdata: what happens in each situation. Write them again, if a rule has changed and only then,
// with -update, and read the difference.
func TestGame_ScenesHaveTheirTraces(t *testing.T) {
	if !*update {
		testenv.Long(t)
	}
	for _, file := range []struct {
		name   string
		scenes []scene
	}{
		{"player.txt", playerScenes()}, {"gifts.txt", giftScenes()}, {"enemies.txt", enemyScenes()}, {"realm.txt", realmScenes()}, {"autopilot.txt", autopilotScenes()},
	} {
		var names []string
		r := open(t, file.name)
		for _, sc := range file.scenes {
			if slices.Contains(names, sc.name) {
				t.Fatalf("two scenes are %q", sc.name)
			}
			names = append(names, sc.name)
			// A game of its own: places in tables and pools tell what was there before.
			t.Run(sc.name, func(t *testing.T) { r.compare(t, sc.name, newStage(t).trace(sc)) })
		}
		r.close(t, names)
	}
}

// hold returns an input that is the same in every tick.
func hold(in engine.Input) func(int) engine.Input { return func(int) engine.Input { return in } }

// press returns an input that adds pressed buttons in some ticks.
func press(in engine.Input, b engine.Buttons, ticks ...int) func(int) engine.Input {
	return func(tick int) engine.Input {
		now := in
		now.Pressed.Set(b, slices.Contains(ticks, tick))
		return now
	}
}
