package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
)

type bug struct{ X, Y, Speed float32 }

type nest struct {
	Kind uint8 // and three bytes of padding
	N    uint32
}

// A hive is a small game with a pool, random numbers, a list and counters. A mistake adds its data and its rule.
type hive struct {
	bugs             *pool.Pool[bug]
	rng              engine.Rand
	tick, score, sum int
	trail            []int
	nest             nest
	mistake          any // pointer to the data of the mistake

	set    *save.Set
	refuse error                  // of Add and Seal
	work   func()                 // the rule of the mistake
	hashes []func(*engine.Hasher) // what the mistake adds to the hash
	checks []func() error
	blind  bool // the hash omits the speed
	second bool // the other one of two games in lockstep
	end    []func() error
}

// keep adds a counter to the Set and to the hash.
func keep(g *hive, name string, v *int) {
	g.refuse = errors.Join(g.refuse, save.Value(g.set, name, v))
	g.hashes = append(g.hashes, func(h *engine.Hasher) { h.Int(*v) })
}

// keepSlice is keep for a slice.
func keepSlice(g *hive, name string, v *[]int) {
	g.refuse = errors.Join(g.refuse, save.Slice(g.set, name, v))
	g.hashes = append(g.hashes, func(h *engine.Hasher) {
		for _, n := range *v {
			h.Int(n)
		}
	})
}

// add adds a State.
func (g *hive) add(name string, s save.State) { g.refuse = errors.Join(g.refuse, g.set.Add(name, s)) }

// must keeps an error of building the game, which is not that of a Set.
func (g *hive) must(err error) {
	if err != nil {
		panic(err)
	}
}

func newHive(t testing.TB, second bool, plant func(g *hive, planted bool), planted bool) (*hive, engine.Sync) {
	t.Helper()
	bugs, err := pool.New[bug](nil, pool.Config{Capacity: 200, Name: "bugs"})
	g := &hive{bugs: bugs, rng: engine.NewRand(1, 1), set: new(save.Set), second: second, work: func() {}}
	g.end = append(g.end, bugs.Close)
	t.Cleanup(func() {
		for i := range g.end {
			if err := g.end[len(g.end)-1-i](); err != nil {
				t.Error(err)
			}
		}
	})
	g.must(err)
	g.refuse = errors.Join(g.set.Add("random numbers", &g.rng), save.Value(g.set, "nest", &g.nest), save.Slice(g.set, "trail", &g.trail))
	keep(g, "tick", &g.tick)
	keep(g, "score", &g.score)
	keep(g, "sum", &g.sum)
	if plant != nil {
		plant(g, planted)
	}
	g.add("bugs", bugs)
	if g.refuse = errors.Join(g.refuse, g.set.Seal()); g.refuse != nil {
		return g, engine.Sync{}
	}
	return g, engine.Sync{Set: g.set, Step: g.step, Hash: g.hash, Check: g.check, Ticks: 24, Distance: 4}
}

func (g *hive) step() error {
	g.tick++
	if _, v, err := g.bugs.New(); err == nil {
		v.X, v.Speed = g.rng.Float32(), g.rng.Float32()
	}
	for h, b := range g.bugs.All() {
		if b.X += b.Speed; b.X > 5 {
			g.bugs.Free(h)
			g.score++
		}
	}
	g.nest.Kind, g.nest.N = uint8(g.tick), g.nest.N+uint32(g.score)
	g.trail = append(g.trail, g.score)
	if len(g.trail) > 20 {
		g.trail = g.trail[:5]
	}
	g.work()
	return nil
}

// paint sets a field of all bugs.
func (g *hive) paint(y float32) {
	for _, b := range g.bugs.All() {
		b.Y = y
	}
}

// mix adds a number to the sum, so that order counts.
func (g *hive) mix(n int) { g.sum = (31*g.sum + n) % 1e6 }

func (g *hive) hash() uint64 {
	var h engine.Hasher
	g.rng.Hash(&h)
	h.Int(int(g.nest.Kind))
	h.Int(int(g.nest.N))
	for _, n := range g.trail {
		h.Int(n)
	}
	for _, b := range g.bugs.All() {
		h.Float32(b.X)
		h.Float32(b.Y)
		if !g.blind {
			h.Float32(b.Speed)
		}
	}
	for _, f := range g.hashes {
		f(&h)
	}
	return h.Sum()
}

func (g *hive) check() error {
	errs := []error{g.bugs.Check()}
	for _, f := range g.checks {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// detectors are the ways to find a mistake. Each returns the error that names it, or nil.
var detectors = map[string]func(t testing.TB, plant func(*hive, bool), planted bool) error{
	"refused": func(t testing.TB, plant func(*hive, bool), planted bool) error {
		g, _ := newHive(t, false, plant, planted)
		return g.refuse
	},
	"synctest": func(t testing.TB, plant func(*hive, bool), planted bool) error {
		_, cfg := newHive(t, false, plant, planted)
		cfg.Check = nil
		_, err := engine.Synctest(cfg)
		return err
	},
	"check": func(t testing.TB, plant func(*hive, bool), planted bool) error {
		_, cfg := newHive(t, false, plant, planted)
		_, err := engine.Synctest(cfg)
		return err
	},
	"audit": func(t testing.TB, plant func(*hive, bool), planted bool) error {
		g, cfg := newHive(t, false, plant, planted)
		cfg.Audit = engine.Fields(nil, g)
		_, err := engine.Synctest(cfg)
		return err
	},
	"unhashed": func(t testing.TB, plant func(*hive, bool), planted bool) error {
		g, cfg := newHive(t, false, plant, planted)
		for range 8 {
			g.must(g.step())
		}
		before := g.hash()
		fields, err := engine.Unhashed(cfg)
		if g.hash() != before {
			err = errors.Join(err, errors.New("Unhashed has changed the game"))
		}
		if len(fields) > 0 {
			err = errors.Join(err, fmt.Errorf("unhashed: %s", strings.Join(fields, ", ")))
		}
		return err
	},
	"lockstep": func(t testing.TB, plant func(*hive, bool), planted bool) error {
		_, a := newHive(t, false, plant, planted)
		_, b := newHive(t, true, plant, planted)
		_, err := engine.Lockstep(a, b)
		return err
	},
}

// Each mistake is found by its detector, which names the part or the field. The same game without the mistake passes all
// detectors.
func TestMistakes_AreFoundAndNamed(t *testing.T) {
	for _, m := range mistakes {
		err := detectors[m.by](t, m.plant, true)
		if err == nil || !strings.Contains(err.Error(), m.want) {
			t.Errorf("%s: %s: %v, want %q", m.name, m.by, err, m.want)
		}
		t.Logf("%-32s %-9s %v", m.name, m.by, err)
	}
	if len(mistakes) < 30 {
		t.Errorf("%d mistakes", len(mistakes))
	}
}

func TestMistakes_MendedGamesPass(t *testing.T) {
	for _, m := range mistakes {
		for name, detect := range detectors {
			if err := detect(t, m.plant, false); err != nil {
				t.Errorf("%s, mended: %s: %v", m.name, name, err)
			}
		}
	}
}
